// Checks what a ledger serves by Go's sumdb/note and sumdb/tlog, which share no
// code with it. Debian: golang-go and golang-golang-x-mod-dev, then
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o /tmp/verifier .
//
// Questions are JSON values on standard input; each is answered by a line:
// "good" and what was shown, or "refused" and why.
package main

import (
	"bufio"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Bytes are base64.
type question struct {
	Check               string
	Key                 string // name+hash+base64, as note.NewVerifier takes it
	Checkpoint          string
	Root, OldRoot       []byte
	Size, Old, Index    int64
	Event               []byte
	Events, Hashes      [][]byte
	Proof               string
	Evidence            string
	URL, User, Password string
}

var checks = map[string]func(*question) (string, error){
	"checkpoint":  checkpoint,
	"root":        root,
	"inclusion":   inclusion,
	"consistency": consistency,
	"proof":       proof,
	"evidence":    evidence,
	"tiles":       tiles,
}

// openCheckpoint gives the tree that a signed note names.
func openCheckpoint(key, text string) (tree tlog.Tree, err error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return tree, err
	}
	n, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tree, err
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return tree, errors.New("a checkpoint has three lines")
	}
	if lines[0] != verifier.Name() {
		return tree, errors.New("the checkpoint is of another origin")
	}
	if tree.N, err = decimal(lines[1]); err != nil {
		return tree, err
	}
	tree.Hash, err = tlog.ParseHash(lines[2])
	return tree, err
}

func decimal(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && strconv.FormatInt(n, 10) != text {
		err = errors.New("not the plain form of a number")
	}
	return n, err
}

func toHash(b []byte) (h tlog.Hash, err error) {
	if copy(h[:], b) != len(b) || len(b) != tlog.HashSize {
		return h, errors.New("a hash has 32 bytes")
	}
	return h, nil
}

func toHashes(list [][]byte) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(list))
	for i, b := range list {
		h, err := toHash(b)
		if err != nil {
			return nil, err
		}
		hashes[i] = h
	}
	return hashes, nil
}

// rootOf makes the root anew from the leaves.
func rootOf(leaves []tlog.Hash) (tlog.Hash, error) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, at := range indexes {
			out[i] = stored[at]
		}
		return out, nil
	})
	for i, leaf := range leaves {
		more, err := tlog.StoredHashesForRecordHash(int64(i), leaf, reader)
		if err != nil {
			return tlog.Hash{}, err
		}
		stored = append(stored, more...)
	}
	return tlog.TreeHash(int64(len(leaves)), reader)
}

func checkpoint(q *question) (string, error) {
	tree, err := openCheckpoint(q.Key, q.Checkpoint)
	return fmt.Sprintf("%d %x", tree.N, tree.Hash[:]), err
}

func root(q *question) (string, error) {
	leaves := make([]tlog.Hash, len(q.Events))
	for i, event := range q.Events {
		leaves[i] = tlog.RecordHash(event)
	}
	h, err := rootOf(leaves)
	return fmt.Sprintf("%d %x", len(leaves), h[:]), err
}

func inclusion(q *question) (string, error) {
	path, err := toHashes(q.Hashes)
	if err != nil {
		return "", err
	}
	root, err := toHash(q.Root)
	if err != nil {
		return "", err
	}
	return "", tlog.CheckRecord(path, q.Size, root, q.Index,
		tlog.RecordHash(q.Event))
}

func consistency(q *question) (string, error) {
	path, err := toHashes(q.Hashes)
	if err != nil {
		return "", err
	}
	root, err := toHash(q.Root)
	if err != nil {
		return "", err
	}
	old, err := toHash(q.OldRoot)
	if err != nil {
		return "", err
	}
	return "", tlog.CheckTree(path, q.Size, root, q.Old, old)
}

// proof reads a C2SP tlog-proof, and checks that it shows the event.
func proof(q *question) (string, error) {
	head, text, found := strings.Cut(q.Proof, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 2 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return "", errors.New("not a tlog-proof")
	}
	index, err := decimal(strings.TrimPrefix(lines[1], "index "))
	if err != nil || !strings.HasPrefix(lines[1], "index ") {
		return "", errors.New("a tlog-proof without an index")
	}
	var path tlog.RecordProof
	for _, line := range lines[2:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			return "", err
		}
		path = append(path, h)
	}
	tree, err := openCheckpoint(q.Key, text)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %d", index, tree.N), tlog.CheckRecord(path, tree.N,
		tree.Hash, index, tlog.RecordHash(q.Event))
}

// signed takes an event's line apart and checks the signature by the key.
func signed(key, line string) ([]byte, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, err
	}
	public, err := base64.StdEncoding.DecodeString(strings.SplitN(key, "+", 3)[2])
	if err != nil {
		return nil, err
	}
	tokens, event, _ := strings.Cut(line, " ")
	for _, token := range strings.Split(tokens, ",") {
		b, err := base64.StdEncoding.DecodeString(token)
		if err != nil || len(b) < 4 {
			return nil, errors.New("not a signature of an event")
		}
		if binary.BigEndian.Uint32(b) == verifier.KeyHash() {
			if !ed25519.Verify(public[1:], []byte(event), b[4:]) {
				return nil, errors.New("the event's signature is bad")
			}
			return []byte(event), nil
		}
	}
	return nil, errors.New("the event is not signed by this key")
}

// evidence checks an evidence file: the event's line and its tlog-proof.
func evidence(q *question) (string, error) {
	var file struct{ Format, Ledger, Line, Proof string }
	if err := json.Unmarshal([]byte(q.Evidence), &file); err != nil {
		return "", err
	}
	if file.Format != "probity-evidence/v1" ||
		!strings.HasPrefix(q.Key, file.Ledger+"+") {
		return "", errors.New("not evidence of this ledger")
	}
	event, err := signed(q.Key, file.Line)
	if err != nil {
		return "", err
	}
	return proof(&question{Key: q.Key, Proof: file.Proof, Event: event})
}

func answer(q *question) string {
	check := checks[q.Check]
	if check == nil {
		return "unknown check " + q.Check
	}
	shown, err := check(q)
	if err != nil {
		return "refused " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return strings.TrimSpace("good " + shown)
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	in.DisallowUnknownFields()
	for {
		var q question
		if err := in.Decode(&q); err == io.EOF {
			return
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		fmt.Println(answer(&q))
	}
}
