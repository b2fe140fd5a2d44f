// The tiles of C2SP tlog-tiles, read over HTTP. Their paths are written here by
// hand: those of Go's tlog.Tile are of another layout.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	tileHeight = 8
	tileWidth  = 1 << tileHeight
	// 256 entries, each of at most 65,535 bytes and a length before it.
	replyMax = tileWidth * (2 + 65535)
)

func fetch(q *question, path string) ([]byte, error) {
	req, err := http.NewRequest("GET", q.URL+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(q.User, q.Password)
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, replyMax))
	if err == nil && reply.StatusCode != 200 {
		err = fmt.Errorf("%s: status %d", path, reply.StatusCode)
	}
	return body, err
}

func tilePath(level string, number, width int64) string {
	path := fmt.Sprintf("%03d", number%1000)
	for number >= 1000 {
		number /= 1000
		path = fmt.Sprintf("x%03d/%s", number%1000, path)
	}
	if width < tileWidth {
		path = fmt.Sprintf("%s.p/%d", path, width)
	}
	return "tile/" + level + "/" + path
}

// eachTile fetches the tiles that hold the first n of a level.
func eachTile(q *question, level string, n int64,
	take func(tile []byte, width int64) ([]tlog.Hash, error)) ([]tlog.Hash, error) {
	var all []tlog.Hash
	for at := int64(0); at < n; at += tileWidth {
		width := n - at
		if width > tileWidth {
			width = tileWidth
		}
		path := tilePath(level, at/tileWidth, width)
		tile, err := fetch(q, path)
		if err != nil {
			return nil, err
		}
		hashes, err := take(tile, width)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, hashes...)
	}
	return all, nil
}

func takeHashes(tile []byte, width int64) ([]tlog.Hash, error) {
	if int64(len(tile)) != width*tlog.HashSize {
		return nil, errors.New("a tile of another length")
	}
	hashes := make([]tlog.Hash, width)
	for i := range hashes {
		copy(hashes[i][:], tile[i*tlog.HashSize:])
	}
	return hashes, nil
}

// takeEntries gives the leaves of length-prefixed entries.
func takeEntries(tile []byte, width int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, width)
	for i := range hashes {
		if len(tile) < 2 {
			return nil, errors.New("too few entries")
		}
		end := 2 + int(binary.BigEndian.Uint16(tile))
		if len(tile) < end {
			return nil, errors.New("an entry is cut short")
		}
		hashes[i] = tlog.RecordHash(tile[2:end])
		tile = tile[end:]
	}
	if len(tile) != 0 {
		return nil, errors.New("more than the entries")
	}
	return hashes, nil
}

func expectRoot(what string, leaves []tlog.Hash, want tlog.Hash) error {
	got, err := rootOf(leaves)
	if err == nil && got != want {
		err = fmt.Errorf("%s give another root", what)
	}
	return err
}

// climb checks that each level's hashes are the roots of the full tiles below.
func climb(q *question, below []tlog.Hash) error {
	for level := 1; len(below) >= tileWidth; level++ {
		hashes, err := eachTile(q, fmt.Sprint(level),
			int64(len(below)/tileWidth), takeHashes)
		if err != nil {
			return err
		}
		for i, want := range hashes {
			what := fmt.Sprintf("tile %d of level %d: its hashes", i, level-1)
			tile := below[i*tileWidth : (i+1)*tileWidth]
			if err := expectRoot(what, tile, want); err != nil {
				return err
			}
		}
		below = hashes
	}
	return nil
}

// tiles makes the root anew twice, from the entries and from the leaves' tiles.
func tiles(q *question) (string, error) {
	text, err := fetch(q, "checkpoint")
	if err != nil {
		return "", err
	}
	tree, err := openCheckpoint(q.Key, string(text))
	if err != nil {
		return "", err
	}
	entries, err := eachTile(q, "entries", tree.N, takeEntries)
	if err != nil {
		return "", err
	}
	if err := expectRoot("the entries", entries, tree.Hash); err != nil {
		return "", err
	}
	leaves, err := eachTile(q, "0", tree.N, takeHashes)
	if err != nil {
		return "", err
	}
	if err := expectRoot("the leaves", leaves, tree.Hash); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %x", tree.N, tree.Hash[:]), climb(q, leaves)
}
