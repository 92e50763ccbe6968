import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** One split bundle for the command and the library; the embedded database stays outside and is loaded by `serve` alone. */
export default {
  input: { cli: 'src/cli.ts', index: 'src/index.ts' },
  platform: 'node',
  external: ['@electric-sql/pglite', /^@electric-sql\/pglite\//, 'pg', 'kysely', 'hono', /^hono\//, '@hono/node-server'],
  transform: { define: { __OSTIARY_VERSION__: JSON.stringify(version) } },
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    banner: (chunk) => (chunk.name === 'cli' ? '#!/usr/bin/env node' : ''),
  },
};
