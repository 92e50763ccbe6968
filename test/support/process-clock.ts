/** Shifts the clock of a Node process by the minutes in a file, which may change while it runs. */
export function clockOf(file: string): Readonly<Record<string, string>> {
  const code = `import { readFileSync } from 'node:fs';
    const Real = Date;
    const now = () => Real.now() + 60000 * Number(readFileSync('${file}', 'utf8'));
    globalThis.Date = class extends Real {
      constructor(...parts) { super(...(parts.length === 0 ? [now()] : parts)); }
      static now() { return now(); }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(code).toString('base64')}` };
}
