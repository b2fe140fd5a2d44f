// Where things are, and as whom programs run.
import { execFileSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const top = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const buildFolder = resolve(top, process.env.BUILD ?? "build");

// Web servers give up root for www-data. Started by root, all our programs run
// as that user from the start, so that state, keys and sockets have one owner.
const isRoot = process.getuid() === 0;
const idOf = (flag) => Number(execFileSync("id", [flag, "www-data"]));
export const user = isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {};
export { isRoot };
