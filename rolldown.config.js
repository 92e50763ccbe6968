import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** All that `plan` runs; the other commands, the server and the libraries stay apart. */
const core =
  /src.(model|kinds|disk.(?!plan-file|state-file|tree-writer)|manifest.(?!accept|draft|edit|file-names|inherit|terraform)|plan.(?!saved-plan|validators)|report.(?!trials|junit|pull|manifest-text|terraform)|gateway|git\b.(?!read-remote|remote)|commands.(?!action|apply|explain|get|init|misfits|pull|saved|saving|serve|test|validate|version))/;

/** `simple-git` writes down what it runs, tokens in the environment included, where the variable DEBUG says so: here nothing does. */
const silence = {
  name: 'silence',
  resolveId: (id) => (id === 'debug' ? { id: '\0debug', moduleSideEffects: false } : null),
  load: (id) =>
    id === '\0debug'
      ? 'const log = Object.assign(() => {}, { namespace: "", enabled: false, extend: () => log }); export default Object.assign(() => log, { formatters: {}, enable() {} });'
      : null,
};

/** One split bundle for the command, the action and the library; the embedded database stays outside and is loaded by `serve` alone. */
export default {
  input: { action: 'src/action.ts', cli: 'src/cli.ts', index: 'src/index.ts' },
  platform: 'node',
  external: ['@electric-sql/pglite', /^@electric-sql\/pglite\//, 'pg', 'kysely', 'hono', /^hono\//, '@hono/node-server'],
  // The same package as ES modules: it loads in half the time of its CommonJS build.
  resolve: { alias: { yaml: fileURLToPath(new URL('node_modules/yaml/browser/dist/index.js', import.meta.url)) } },
  plugins: [silence],
  transform: { define: { __OSTIARY_VERSION__: JSON.stringify(version) } },
  output: {
    // What every plan needs is one file: thirty small ones take longer to find and load than to run.
    // `--version` loads nothing of that: the version stands apart, though the others know it too.
    codeSplitting: {
      groups: [
        { name: 'version', test: /commands.version/, priority: 1 },
        { name: 'core', test: core },
      ],
    },
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    banner: (chunk) => (chunk.name === 'cli' ? '#!/usr/bin/env node' : ''),
  },
};
