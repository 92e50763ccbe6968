// What a build is made of, as one hash: builds with the same hash behave in the same way.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const made = ['src', 'schemas', '.github', 'package-lock.json', 'package.json', 'rolldown.config.js'];

/** Returns a SHA-256 over the sources, the dependencies and the configuration of the build. */
export function buildHash() {
  const hash = createHash('sha256');
  for (const path of made.flatMap(filesAt)) hash.update(`${path}\n`).update(createHash('sha256').update(readFileSync(path)).digest());
  return hash.digest('hex');
}

function filesAt(path) {
  if (path.includes('.js') && !path.includes('/')) return [path];
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .toSorted();
}
