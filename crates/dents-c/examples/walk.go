// Shows the file below each PATH that was changed last: walk PATH...
package main

/*
#cgo pkg-config: dents
#include <dents.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// File is an entry of a walk, without pointers into C.
type File struct {
	Path    string
	Type    uint8
	Changed time.Time
}

// Walk returns everything below the roots, with the errors of files and directories (*fs.PathError), and at the end the reason if the
// walk ended early. Leaving the loop ends the walk.
func Walk(roots ...string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		// The array is Go memory with pointers to C memory, as cgo requires.
		words := make([]*C.char, len(roots)+1)
		for at, root := range roots {
			words[at] = C.CString(root)
			defer C.free(unsafe.Pointer(words[at]))
		}
		options := C.struct_dents_walk_options{facts: C.DENTS_MTIME}
		var walk *C.struct_dents_walk
		if errno := C.dents_walk_open(&walk, &words[0], &options); errno != 0 {
			yield(File{}, syscall.Errno(errno))
			return
		}
		defer C.dents_walk_close(walk)
		for entry := C.dents_walk_next(walk); entry != nil; entry = C.dents_walk_next(walk) {
			if !yield(file(entry)) {
				return
			}
		}
		if errno := C.dents_walk_error(walk); errno != 0 {
			yield(File{}, syscall.Errno(errno))
		}
	}
}

// The strings are copied: C owns them until the next call.
func file(entry *C.struct_dents_entry) (File, error) {
	path := C.GoString(entry.path)
	if entry.errnum != 0 {
		return File{}, &fs.PathError{Op: "walk", Path: path, Err: syscall.Errno(entry.errnum)}
	}
	changed := time.Unix(int64(entry.mtime.sec), int64(entry.mtime.nsec))
	return File{Path: path, Type: uint8(entry._type), Changed: changed}, nil
}

func main() {
	var last File
	status := 0
	for file, err := range Walk(os.Args[1:]...) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		} else if file.Type == syscall.DT_REG && file.Changed.After(last.Changed) {
			last = file
		}
	}
	fmt.Println(last.Path)
	os.Exit(status)
}
