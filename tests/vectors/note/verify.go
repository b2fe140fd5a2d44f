// Checks a signed note by Go's sumdb/note, which shares no code with the
// ledger: verify <verifier file> <note file>. Debian: golang-go and
// golang-golang-x-mod-dev, then
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run verify.go verifier checkpoint
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

func verify(verifierFile, noteFile string) (*note.Note, error) {
	key, err := os.ReadFile(verifierFile)
	if err != nil {
		return nil, err
	}
	msg, err := os.ReadFile(noteFile)
	if err != nil {
		return nil, err
	}
	verifier, err := note.NewVerifier(strings.TrimSpace(string(key)))
	if err != nil {
		return nil, err
	}
	return note.Open(msg, note.VerifierList(verifier))
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: verify <verifier> <note>")
		os.Exit(2)
	}
	n, err := verify(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(n.Text)
}
