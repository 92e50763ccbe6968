import { createHash } from 'node:crypto';
import { compareText } from '../../model/json.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';

/** Converts a kind's name for file names: `data-masking-rule`. */
export function toKebabCase(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const maxLength = 80;
// Device names on Windows, with any extension, and the name of the config file.
const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|ostiary)(?:\.|$)/i;

/**
 * Assigns a file to each resource, such as `connections/orders-db.yaml`. The names contain only characters that every file
 * system accepts, differ even without regard to case, and are not `taken` (in lower case). A plain name is kept; any other
 * gets a hash, so that no file name depends on other resources.
 */
export function assignFileNames(ids: readonly ResourceId[], taken: ReadonlySet<string>): ReadonlyMap<ResourceId, string> {
  const sorted = ids.toSorted(compareText).map((id) => ({ id, plain: toPlainFile(id) }));
  const count = new Map<string, number>();
  for (const { plain } of sorted) count.set(plain.toLowerCase(), (count.get(plain.toLowerCase()) ?? 0) + 1);
  const files = new Map<ResourceId, string>();
  const used = new Set(taken);
  const isFree = (file: string): boolean => !used.has(`${file.toLowerCase()}.yaml`);
  for (const { id, plain } of sorted) {
    const isAlone = count.get(plain.toLowerCase()) === 1 || plain === plain.toLowerCase();
    const isOwn = isAlone && isPlain(nameOf(id)) && isFree(plain);
    const file = isOwn ? plain : addHash(plain, id, [8, 16].find((length) => isFree(addHash(plain, id, length))) ?? 64);
    used.add(`${file.toLowerCase()}.yaml`);
    files.set(id, `${file}.yaml`);
  }
  return files;
}

/** Reduces a text to letters, digits, dots, dashes and underscores, with a letter or digit at both ends; returns `unnamed` if nothing remains. */
export function toFileNameText(text: string): string {
  const plain = text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .slice(0, maxLength)
    .replaceAll(/^[._-]+|[._-]+$/g, '');
  return plain === '' ? 'unnamed' : plain;
}

function isPlain(name: string): boolean {
  return toFileNameText(name) === name && !reserved.test(name);
}

function toPlainFile(id: ResourceId): string {
  const text = toFileNameText(nameOf(id));
  return `${toKebabCase(kindOf(id))}s/${reserved.test(text) ? text.replace('.', '-') : text}`;
}

function addHash(plain: string, id: ResourceId, length: number): string {
  return `${plain}-${createHash('sha256').update(id).digest('hex').slice(0, length)}`;
}
