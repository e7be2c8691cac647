// What golang.org/x/mod/sumdb says of a log in the tlog-tiles layout, as JSON on standard output.
//
// The log's checkpoint is opened with the package note, every hash is read through tlog.TileHashReader, and every proof is
// made by the package tlog and checked by it against the checkpoint's root. (That reader alone is not enough: as of Go 1.19
// it passes over some of the tiles when it compares them with the root.)
//
//	main -sizes 1,2,… -pairs 1:2,… -notes old.note,… -leaves 0,1,… -broken 1024 FOLDER
//
// The folder holds log/ and three *.vkey; the notes, which are earlier checkpoints; leaf-<i>, the leaves' bytes; and in
// broken/ the same log, in which the proof of one leaf was altered.
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Of every tile, how many levels of the tree it holds.
const height = 8

// A key that makes cosignatures (C2SP tlog-cosignature): the package note knows only plain signatures.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
	time uint64
}

func (c *cosigner) Name() string    { return c.name }
func (c *cosigner) KeyHash() uint32 { return c.hash }
func (c *cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	c.time = binary.BigEndian.Uint64(signature)
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", c.time, text)
	return ed25519.Verify(c.key, []byte(signed), signature[8:])
}

func newCosigner(vkey string) *cosigner {
	parts := strings.SplitN(vkey, "+", 3)
	hash, err := strconv.ParseUint(parts[1], 16, 32)
	must(err)
	material, err := base64.StdEncoding.DecodeString(parts[2])
	must(err)
	if len(material) != 1+ed25519.PublicKeySize || material[0] != 4 {
		must(fmt.Errorf("%s is no key of a cosigner", parts[0]))
	}
	return &cosigner{name: parts[0], hash: uint32(hash), key: material[1:]}
}

// A folder of tiles.
type tiles string

func (t tiles) Height() int                     { return height }
func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		path := "tile/" + strings.TrimPrefix(tile.Path(), fmt.Sprintf("tile/%d/", height))
		data, err := os.ReadFile(filepath.Join(string(t), path))
		if err != nil {
			return nil, err
		}
		found = append(found, data)
	}
	return found, nil
}

// The head that a checkpoint's text tells.
func head(text string) tlog.Tree {
	lines := strings.Split(text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := tlog.ParseHash(lines[2])
	must(err)
	return tlog.Tree{N: size, Hash: root}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func said(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}

func words(text, separator string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, separator)
}

func numbers(text, separator string) []int64 {
	var found []int64
	for _, each := range words(text, separator) {
		number, err := strconv.ParseInt(each, 10, 64)
		must(err)
		found = append(found, number)
	}
	return found
}

func main() {
	sizes := flag.String("sizes", "1", "sizes whose roots are told")
	pairs := flag.String("pairs", "1:1", "sizes between which consistency is proved")
	notes := flag.String("notes", "", "earlier checkpoints")
	leaves := flag.String("leaves", "", "leaves whose inclusion is proved")
	broken := flag.Int64("broken", -1, "the leaf whose proof was altered")
	flag.Parse()
	folder := flag.Arg(0)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		must(err)
		return data
	}
	key := func(name string) note.Verifier {
		verifier, err := note.NewVerifier(strings.TrimSpace(string(read(name))))
		must(err)
		return verifier
	}
	witness := newCosigner(strings.TrimSpace(string(read("witness.vkey"))))
	report := map[string]interface{}{}

	opened, err := note.Open(read("log/checkpoint"), note.VerifierList(key("log.vkey"), witness))
	must(err)
	var signers []string
	for _, signature := range opened.Sigs {
		signers = append(signers, fmt.Sprintf("%s+%08x", signature.Name, signature.Hash))
	}
	report["signers"] = signers
	report["cosigned_at"] = witness.time
	_, err = note.Open(read("log/checkpoint"), note.VerifierList(key("stranger.vkey")))
	report["stranger"] = said(err)

	tree := head(opened.Text)
	hashes := tlog.TileHashReader(tree, tiles(filepath.Join(folder, "log")))
	roots := map[string]string{}
	for _, size := range numbers(*sizes, ",") {
		root, err := tlog.TreeHash(size, hashes)
		must(err)
		roots[fmt.Sprint(size)] = root.String()
	}
	report["roots"] = roots

	records := map[string]interface{}{}
	for _, index := range numbers(*leaves, ",") {
		proof, err := tlog.ProveRecord(tree.N, index, hashes)
		must(err)
		leaf := tlog.RecordHash(read(fmt.Sprintf("leaf-%d", index)))
		other := tlog.RecordHash([]byte("another"))
		records[fmt.Sprint(index)] = map[string]interface{}{
			"proof":        proof,
			"checked":      said(tlog.CheckRecord(proof, tree.N, tree.Hash, index, leaf)),
			"another_leaf": said(tlog.CheckRecord(proof, tree.N, tree.Hash, index, other)),
		}
	}
	report["inclusion"] = records

	trees := map[string]interface{}{}
	for _, pair := range words(*pairs, ",") {
		both := numbers(pair, ":")
		before, err := tlog.TreeHash(both[0], hashes)
		must(err)
		after, err := tlog.TreeHash(both[1], hashes)
		must(err)
		proof, err := tlog.ProveTree(both[1], both[0], hashes)
		must(err)
		trees[pair] = map[string]interface{}{
			"proof":   proof,
			"checked": said(tlog.CheckTree(proof, both[1], after, both[0], before)),
		}
	}
	report["consistency"] = trees

	for _, name := range words(*notes, ",") {
		earlier, err := note.Open(read(name), note.VerifierList(key("log.vkey")))
		must(err)
		before := head(earlier.Text)
		proof, err := tlog.ProveTree(tree.N, before.N, hashes)
		must(err)
		report[name] = said(tlog.CheckTree(proof, tree.N, tree.Hash, before.N, before.Hash))
	}
	if *broken >= 0 {
		altered := tlog.TileHashReader(tree, tiles(filepath.Join(folder, "broken")))
		proof, err := tlog.ProveRecord(tree.N, *broken, altered)
		if err == nil {
			leaf := tlog.RecordHash(read(fmt.Sprintf("leaf-%d", *broken)))
			err = tlog.CheckRecord(proof, tree.N, tree.Hash, *broken, leaf)
		}
		report["broken"] = said(err)
	}

	text, err := json.MarshalIndent(report, "", " ")
	must(err)
	fmt.Println(string(text))
}
