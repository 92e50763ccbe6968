import { createHash } from 'node:crypto';
import { compareText } from '../../model/json.ts';
import { kindOf, nameOf, type ResourceId } from '../../model/resource.ts';

/** A kind's name as files spell it: `data-masking-rule`. */
export function toKebabCase(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const maxLength = 80;
// Names of devices on Windows, whatever their ending, and the name of the config file.
const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|ostiary)(?:\.|$)/i;

/**
 * Gives each resource a file, `connections/orders-db.yaml`: of plain characters that every file system takes, all
 * different also where letters of both cases are the same, and none of those taken (in lower case). A name that is
 * plain keeps its own; any other is told apart by a hash, so that no file's name depends on what else there is.
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

/** Text of letters, digits, dots, dashes and underscores alone, that begins and ends with none of the signs; `unnamed` where nothing is left. */
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
