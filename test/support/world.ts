import type { Output, World } from '../../src/commands/world.ts';

/** A world for tests, and what was written to it. */
export type TestWorld = {
  readonly world: World;
  /** Each stream's text; `both` in the order of writing. */
  readonly printed: () => { readonly stdout: string; readonly stderr: string; readonly both: string };
};

type TestWorldOptions = Partial<Pick<World, 'cwd' | 'env' | 'now'>> & {
  /** The width that the streams tell; none unless given. */
  readonly columns?: number;
};

/** Makes a world without a terminal, in which nobody answers and nothing interrupts. */
export function testWorld({ cwd = '/', env = {}, now = () => new Date(), columns }: TestWorldOptions = {}): TestWorld {
  const text = { stdout: '', stderr: '', both: '' };
  const output = (stream: 'stdout' | 'stderr'): Output => ({
    write(more) {
      text[stream] += more;
      text.both += more;
    },
    isTTY: false,
    columns,
  });
  const world: World = {
    env,
    cwd,
    interactive: false,
    stdout: output('stdout'),
    stderr: output('stderr'),
    now,
    interrupts: () => new AbortController().signal,
    confirms: () => Promise.resolve(false),
  };
  return { world, printed: () => ({ ...text }) };
}
