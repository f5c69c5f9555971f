"""dents.walk compared with os.walk: order, pruning, changes, errors."""

import errno
import os
import random
import shutil
import time
import unittest

import dents
from common import Tree, without_privileges


class Walk(Tree):
    def random_tree(self, seed, directories=150):
        rng, made = random.Random(seed), [self.dir]
        for nth in range(directories):
            made.append(os.path.join(rng.choice(made), f"d{nth}"))
            os.mkdir(made[-1])
            for each in range(rng.randrange(4)):
                with open(os.path.join(made[-1], f"f{each}"), "w"):
                    pass
            if rng.random() < 0.1:
                os.symlink(rng.choice(["/usr/bin", "missing", "."]), os.path.join(made[-1], "link"))
        return rng

    def test_the_order_is_that_of_os(self):
        for seed in range(5):
            self.random_tree(seed)
            for topdown in [True, False]:
                self.assertEqual(list(dents.walk(self.dir, topdown)), list(os.walk(self.dir, topdown)))
            shutil.rmtree(self.dir)
            os.mkdir(self.dir)

    def test_what_changes_after_it_was_read_ahead(self):
        """The tree changes after some directories were yielded, and the others were prefetched."""

        def changed(walk, name):
            def at(nth, *names):
                return os.path.join(self.path(name), f"d{nth:03}", *names)

            for nth in range(100):
                os.makedirs(at(nth, "below"))
            # Times of a file system have steps: the prefetched directories must be older than the changes.
            time.sleep(0.05)
            found = []
            for path, dirs, files in walk(self.path(name)):
                dirs.sort()
                found.append((os.path.relpath(path, self.path(name)), list(dirs), sorted(files)))
                if len(found) == 5:
                    time.sleep(0.2)
                    for nth in range(20, 100, 5):
                        shutil.rmtree(at(nth))
                        open(at(nth + 1, "new"), "w").close()
                        os.mkdir(at(nth + 2, "below", "new"))
                        os.rename(at(nth + 3, "below"), at(nth + 3, "moved"))
            return found

        self.assertEqual(changed(dents.walk, "ours"), changed(os.walk, "theirs"))

    def test_links_are_followed(self):
        self.tree()
        os.mkdir(self.path("other"))
        os.symlink(self.path("d1"), self.path("other", "link"))
        for topdown in [True, False]:
            ours, theirs = (list(walk(self.dir, topdown, None, True)) for walk in [dents.walk, os.walk])
            self.assertEqual(ours, theirs)
            self.assertIn(self.path("other", "link"), [path for path, _, _ in ours])

    def test_dirnames_are_edited_at_random(self):
        for seed in range(8):
            self.random_tree(seed, 300)

            def edited(walk):
                rng, found = random.Random(seed), []
                for path, dirs, files in walk(self.dir):
                    found.append((path, list(dirs), files))
                    dirs.sort()
                    kind = rng.randrange(5)
                    if kind == 0 and dirs:
                        del dirs[rng.randrange(len(dirs))]
                    elif kind == 1:
                        dirs.reverse()
                    elif kind == 2 and len(found) > 20:
                        dirs[:] = [name for name in dirs if rng.random() < 0.5]
                    elif kind == 3:
                        dirs.append("not-there")
                    elif kind == 4 and len(found) == 1:
                        dirs += dirs[:2]
                return found

            self.assertEqual(edited(dents.walk), edited(os.walk), seed)
            shutil.rmtree(self.dir)
            os.mkdir(self.dir)

    def test_read_ahead_goes_on_after_much_pruning(self):
        """Results of pruned directories leave the queue. Otherwise it would fill, and no further directory would be prefetched."""
        for nth in range(40):
            for each in range(40):
                os.makedirs(self.path(f"a{nth:02}", f"b{each:02}", "c"))

        def visited(walk):
            found = []
            for path, dirs, _ in walk(self.dir):
                dirs.sort()
                found.append(path)
                if os.path.basename(path).startswith("a"):
                    dirs[:] = dirs[-1:]
            return found

        self.assertEqual(visited(dents.walk), visited(os.walk))

    def test_errors_and_vanishing_directories(self):
        self.tree()

        def walked(walk, topdown):
            errors, found = [], []
            for path, dirs, files in walk(self.dir, topdown, lambda error: errors.append((type(error), error.filename))):
                found.append(path)
                if topdown and path == self.dir:
                    dirs.sort()
                    dirs.insert(2, "missing")
            return found, errors

        found = walked(dents.walk, True)
        self.assertEqual(found, walked(os.walk, True))
        self.assertEqual(found[1], [(FileNotFoundError, self.path("missing"))])
        self.assertEqual(list(dents.walk(self.path("missing"))), [])
        for path, _, _ in dents.walk(self.dir):
            if path == self.dir:
                shutil.rmtree(self.dir)

    def test_an_exception_of_onerror_ends_the_walk(self):
        def stop(error):
            raise error

        walk = dents.walk(self.path("missing"), onerror=stop)
        with self.assertRaises(FileNotFoundError):
            next(walk)
        self.assertEqual(list(walk), [])

    def test_unreadable_directories(self):
        self.tree()
        os.chmod(self.dir, 0o755)
        os.chmod(self.path("d1"), 0)
        self.addCleanup(os.chmod, self.path("d1"), 0o700)

        def compare():
            errors = []
            found = list(dents.walk(self.dir, onerror=errors.append))
            self.assertEqual(found, list(os.walk(self.dir)))
            self.assertGreater(len(found), 30)
            told = [(error.errno, error.filename) for error in errors]
            self.assertEqual(told, [(errno.EACCES, self.path("d1"))])

        self.assertEqual(without_privileges(compare), "")

    def test_types_of_arguments(self):
        for wrong in [None, 3, 1.5]:
            with self.assertRaises(TypeError):
                dents.walk(wrong)
        self.assertEqual(list(dents.walk("")), [])
        walk = dents.walk(self.dir)
        walk.close()
        self.assertEqual(list(walk), [])


if __name__ == "__main__":
    unittest.main()
