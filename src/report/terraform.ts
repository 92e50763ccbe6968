const head = `# What these blocks name is kept by manifests now: Terraform forgets it, and destroys nothing.
# Move the file beside the configuration, delete the resource blocks that it names, and apply. Needs Terraform 1.7 or
# later, or an OpenTofu whose removed blocks know lifecycle.
`;

/** Blocks that let Terraform forget resources; what the text has already stays as it is. */
export function removedBlocks(before: string | undefined, addresses: readonly string[]): string {
  const known = new Set([...(before ?? '').matchAll(/^\s*from\s*=\s*(\S+)/gm)].map(([, address]) => address));
  const missing = addresses.filter((address) => !known.has(address));
  const start = before ?? head;
  return `${start}${start.endsWith('\n') ? '' : '\n'}${missing.map(blockText).join('')}`;
}

function blockText(address: string): string {
  return `\nremoved {\n  from = ${address}\n\n  lifecycle {\n    destroy = false\n  }\n}\n`;
}
