/**
 * Shifts the clock of a Node process by the minutes in a file, which may change while it runs, and what servers say of theirs; with `own`,
 * only its own clock.
 */
export function clockOf(file: string, { own = false }: { readonly own?: boolean } = {}): Readonly<Record<string, string>> {
  const code = `import { readFileSync } from 'node:fs';
    const Real = Date;
    const shift = () => 60000 * Number(readFileSync('${file}', 'utf8'));
    const now = () => Real.now() + shift();
    globalThis.Date = class extends Real {
      constructor(...parts) { super(...(parts.length === 0 ? [now()] : parts)); }
      static now() { return now(); }
      static parse(text) { return Real.parse(text) + (${own ? 'false' : 'text.endsWith(" GMT")'} ? shift() : 0); }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(code).toString('base64')}` };
}
