import { readFileSync } from 'node:fs';
import { bundledPackages } from './build/bundled-packages.js';
import { compiledSchemas } from './build/compiled-schemas.js';
import { yamlTexts } from './build/yaml-texts.js';

const { version, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** What nearly every command begins with, and what of a plan `pull` needs before it has read anything. */
const core =
  /src.(commands.(command-line.run-command-line|context.process-context|session.connect)|project.manifests|reconcile.prepare.verified-secrets|model.concurrency|report.wording.value|disk.write)\.ts/;

/** One split bundle for the command, the action and the library. The embedded database stays outside: only `serve` loads it, where it is installed. */
export default {
  input: { action: 'src/action.ts', cli: 'src/cli.ts', index: 'src/index.ts' },
  platform: 'node',
  external: [/^@electric-sql\/pglite/, 'pg-native'],
  plugins: [compiledSchemas(), yamlTexts(), bundledPackages()],
  transform: {
    define: {
      __OSTIARY_VERSION__: JSON.stringify(version),
      __PGLITE_VERSION__: JSON.stringify(peerDependencies['@electric-sql/pglite']),
    },
  },
  output: {
    // What nearly every command needs is one file, and what some need besides is one each: thirty small ones take longer
    // to find and load than to run. `--version` loads nothing of that: the version stands apart, though the others know it too.
    codeSplitting: {
      groups: [
        { name: 'version', test: /commands.context.version/, priority: 5 },
        { name: 'core', test: core, priority: 4.5 },
        { name: 'plan', test: /commands.plan\.ts/, priority: 4 },
        { name: 'apply', test: /commands.apply\.ts/, priority: 3 },
        { name: 'pull', test: /commands.pull\.ts/, priority: 2 },
        { name: 'text', test: /src.report.text.text\.ts/, priority: 0.5 },
      ],
    },
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    minify: true,
    // Bundlers have no use for annotations of code that is bundled already.
    comments: { annotation: false, jsdoc: false, legal: true },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    banner: (chunk) => (chunk.name === 'cli' ? '#!/usr/bin/env node' : ''),
  },
};
