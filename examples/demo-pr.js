// What a team sees of Ostiary on GitHub, on this machine: a repository, an emulated GitHub, a gateway of its own, the bundled action;
// and at the end `ostiary pull` of that gateway.
// Run it with `npm run demo:pr`; it works in temporary folders and leaves nothing behind. The story itself is
// test/support/pull-request-story.ts, and a test runs this file.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cli, dist, onStage, say, title } from './stage.js';

/** Compiles the story to JavaScript, because Node 20 runs no TypeScript, into node_modules, where Node finds the packages. */
async function loadStory() {
  const { rolldown } = await development('rolldown');
  await development('emulate');
  const build = await rolldown({
    input: fileURLToPath(new URL('../test/support/demo-pr.ts', import.meta.url)),
    platform: 'node',
    external: /^[^./]/,
  });
  const folder = fileURLToPath(new URL(`../node_modules/.cache/ostiary/demo-${process.pid}`, import.meta.url));
  try {
    const { output } = await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs' });
    return await import(pathToFileURL(join(folder, output[0].fileName)).href);
  } finally {
    await build.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function development(name) {
  try {
    return await import(name);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(`the package "${name}" is missing: it is needed only for development; npm ci, without --omit=dev, installs it`, {
      cause: error,
    });
  }
}

async function play() {
  const began = Date.now();
  const { appAccount, startGitHub, openRunner, playPullRequests, start } = await loadStory();
  await onStage(async ({ folder, url, key }) => {
    const github = await startGitHub(appAccount);
    try {
      say(`An emulated GitHub answers on ${github.url}.`);
      const [place, steps] = ['repository', 'steps'].map((name) => join(folder, name));
      for (const one of [place, steps]) mkdirSync(one);
      const run = openRunner(steps);
      const step = (options) => run(options, github, (cwd, env) => start(process.execPath, [join(dist, 'action.js')], { cwd, env }).ended);
      const ostiary = (args, options) => start(process.execPath, [cli, ...args], options).ended;
      await playPullRequests({ folder: place, gateway: { url, key }, github, step, ostiary, title, say });
    } finally {
      await github.close();
    }
  });
  say(`\nDone in ${((Date.now() - began) / 1000).toFixed(0)} s: each merge did what its pull request had shown.`);
}

try {
  await play();
} catch (error) {
  process.stderr.write(`demo:pr: ${error.message}\n`);
  process.exitCode = 1;
}
