import config from '../rolldown.config.js';

/** The command as one file, with the embedded database: what a single executable runs. */
export default {
  ...config,
  input: { ostiary: 'src/cli.ts' },
  external: ['pg-native'],
  // The embedded database evaluates code where it is not run by Node.
  checks: { eval: false },
  output: { format: 'esm', minify: true, dir: 'dist/executable', entryFileNames: '[name].mjs', codeSplitting: false },
};
