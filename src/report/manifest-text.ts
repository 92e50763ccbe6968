import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { toYamlText } from './serialize.ts';
import { escapeTerminal } from './escape.ts';

const columns = 100;

/** Returns a manifest as people write it, below the comment that names its schema for editors. */
export function manifestText(value: JsonObject, schema: string): string {
  const parts = Object.entries(value).map(([name, part]) => partText(name, part));
  return `# yaml-language-server: $schema=${schema}\n${parts.join('')}`;
}

/** Returns a top-level key; metadata and spec are always blocks. */
function partText(name: string, part: Json): string {
  if (!isObject(part) || Object.keys(part).length === 0) return toYamlText({ [name]: part });
  return `${name}:\n${toYamlText(part, columns, '  ')}`;
}

/** Adds variables without values to a template, one block for each object. Existing text stays unchanged. */
export function environmentText(
  before: string | undefined,
  variables: readonly { readonly name: string; readonly about: string }[],
): string {
  const head =
    before ?? '# Variables that the manifests take secrets from. Copy this file, fill in the values, and keep the copy out of git.\n';
  const known = new Set(head.split('\n').map((line) => line.replace(/=.*$/, '').trim()));
  const missing = variables.filter(({ name }) => !known.has(name));
  const blocks = new Map<string, string>();
  for (const { name, about } of missing) blocks.set(about, `${blocks.get(about) ?? ''}${name}=\n`);
  const added = [...blocks].map(([about, lines]) => `\n# ${escapeTerminal(about)}\n${lines}`);
  return `${head}${head.endsWith('\n') ? '' : '\n'}${added.join('')}`;
}

const removedHead = `# What these blocks name is kept by manifests now: Terraform forgets it, and destroys nothing.
# Move the file beside the configuration, delete the resource blocks that it names, and apply. Needs Terraform 1.7 or
# later, or an OpenTofu whose removed blocks know lifecycle.
`;

/** Adds blocks that make Terraform forget resources. Existing text stays unchanged. */
export function removedBlocks(before: string | undefined, addresses: readonly string[]): string {
  const known = new Set([...(before ?? '').matchAll(/^\s*from\s*=\s*(\S+)/gm)].map(([, address]) => address));
  const missing = addresses.filter((address) => !known.has(address));
  const start = before ?? removedHead;
  return `${start}${start.endsWith('\n') ? '' : '\n'}${missing.map(blockText).join('')}`;
}

function blockText(address: string): string {
  return `\nremoved {\n  from = ${address}\n\n  lifecycle {\n    destroy = false\n  }\n}\n`;
}
