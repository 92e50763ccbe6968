import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Bundles a TypeScript program, packages left out, and returns its path; Node 20 cannot run it as it is. */
export async function bundle(program: URL): Promise<string> {
  const build = await rolldown({ input: fileURLToPath(program), platform: 'node', external: /^[^./]/ });
  // Within the checkout, so that the packages are found.
  const dir = join(process.cwd(), 'node_modules', '.cache', 'ostiary', basename(program.pathname, '.ts'));
  const { output } = await build.write({ dir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  await build.close();
  return join(dir, output[0].fileName);
}
