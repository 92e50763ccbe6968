import { type Dirent, closeSync, constants, existsSync, openSync, readSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isManifestFolder, isManifestName } from '../model/diagnostic.ts';

// A manifest begins with these fields; a file without them here is something else.
const headBytes = 4096;

// The field as YAML and as JSON write it. Documentation shows manifests inside other text.
const manifestHead = /(?:^|[{,])[\t "']*apiVersion["']?\s*:\s*["']?ostiary\//m;
const documentation = /\.(?:md|mdx|markdown|rst|adoc|html?|patch|diff)$/i;

/** Returns whether a file that is not read for its name has the text of a manifest. Copies that editors keep beside the manifest do not count. */
export function isUnreadManifest(path: string): boolean {
  if (documentation.test(path) || isCopyOfNeighbor(path)) return false;
  return manifestHead.test(readHead(path));
}

/** Returns whether a folder that is not read has a file with the name and the text of a manifest, at any depth. */
export function containsManifests(folder: string): boolean {
  const entries = entriesOf(folder);
  const isManifest = entries.some(
    (entry) => entry.isFile() && isManifestName(entry.name) && manifestHead.test(readHead(join(folder, entry.name))),
  );
  return (
    isManifest ||
    entries.some((entry) => entry.isDirectory() && isManifestFolder(entry.name) && containsManifests(join(folder, entry.name)))
  );
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Returns whether the name is that of a manifest in the same folder with something added, such as `NAME~`, `NAME.bak` or `.NAME.swp`. */
function isCopyOfNeighbor(path: string): boolean {
  const [, name] = /^[.#]*(.+?\.ya?ml)(?=[^A-Za-z])/.exec(basename(path)) ?? [];
  return name !== undefined && existsSync(join(dirname(path), name));
}

/** Returns the text at the beginning of a file; no text if it cannot be read, as for files that Ostiary never opens. */
function readHead(path: string): string {
  const buffer = Buffer.alloc(headBytes);
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, headBytes, 0));
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
