// Plugins of the bundler: each leaves out code that Ostiary never runs, or compresses what it seldom reads, so that starts read less.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

/** Parts of packages, by the end of the path that imports them, and the code in their place. */
const parts = [
  // It writes down what it runs, tokens in the environment included, where the variable DEBUG says so: here nothing does.
  [
    /^debug$/,
    'const log = Object.assign(() => {}, { namespace: "", enabled: false, extend: () => log }); export default Object.assign(() => log, { formatters: {}, enable() {} });',
  ],
  // HTTP/2, which no connection of ours speaks, and Node's own module for it with every first request.
  [/^\.\/client-h2\.js$/, 'export default () => { throw new Error("HTTP/2 was not asked for"); };'],
  // Bodies of forms; ours are texts.
  [/\/web\/fetch\/body\.js$/, 'export const extractBody = () => { throw new Error("only texts are sent"); };'],
  // Events for observers of undici, and a log of its requests where the variable NODE_DEBUG asks for it: nothing observes them.
  [/\/(?:core\/)?diagnostics(?:\.js)?$/, 'export const channels = new Proxy({}, { get: () => ({ hasSubscribers: false }) });'],
  // Numbers beyond 2^53, which no answer that Ostiary reads has.
  [/^json-with-bigint$/, 'export const JSONParse = JSON.parse; export const JSONStringify = JSON.stringify;'],
  // A client for GraphQL; `github-client.ts` sends its two queries as other requests.
  [/^@octokit\/graphql$/, 'export const withCustomRequest = () => ({ defaults() {} });'],
  // A log of the requests to GitHub, which `github-client.ts` drops.
  [/^@octokit\/plugin-request-log$/, 'export const requestLog = () => ({});'],
  // Proxies that speak SOCKS; readNetwork accepts http and https.
  [/^\.\/socks5-proxy-agent$/, 'export default class { constructor() { throw new Error("SOCKS was not asked for"); } };'],
];

/** Returns a plugin that puts short code in place of parts that are never run. */
export function withoutUnusedParts() {
  return {
    name: 'without-unused-parts',
    resolveId(id, importer) {
      const index = parts.findIndex(([pattern]) => pattern.test(id));
      if (index !== -1 && importer?.includes('node_modules')) return { id: `\0unused-${index}`, moduleSideEffects: false };
      // Two builds of one parser: the one that needs no vector instructions runs everywhere, and as fast with answers of our size.
      return id.endsWith('/llhttp_simd-wasm.js') ? this.resolve(id.replace('_simd', ''), importer) : null;
    },
    load: (id) => parts[Number(/^\0unused-(\d+)$/.exec(id)?.[1])]?.[1] ?? null,
  };
}

/** Returns a plugin that ships the parser of HTTP responses compressed: its first request unpacks it in a millisecond. */
export function withCompressedParser() {
  return {
    name: 'with-compressed-parser',
    transform: (code, id) =>
      id.endsWith('/llhttp/llhttp-wasm.js')
        ? code.replace(
            /const wasmBase64 = '([^']+)'/,
            (_, text) =>
              `const wasmBase64 = require('node:zlib').brotliDecompressSync(Buffer.from('${brotliCompressSync(Buffer.from(text, 'base64')).toString('base64')}', 'base64')).toString('base64')`,
          )
        : null,
  };
}

/** Returns a plugin that ships the schemas of other documents than manifests compressed: they are read for messages, and most are seldom. */
export function withCompressedSchemas() {
  return {
    name: 'with-compressed-schemas',
    load(id) {
      if (!/\/schemas\/documents\/[\w.-]+\.json$/.test(id)) return null;
      const json = JSON.stringify(JSON.parse(readFileSync(id, 'utf8')));
      return { code: `import { brotliDecompressSync } from 'node:zlib';\nexport default ${unpacked(json)};`, moduleType: 'js' };
    },
  };
}

/** Returns a plugin that keeps only those constants of the parser of HTTP responses that its one user names. */
export function onlyNamedConstants() {
  return {
    name: 'only-named-constants',
    async load(id) {
      if (!id.endsWith('/llhttp/constants.js')) return null;
      const { default: constants } = await import(pathToFileURL(id).href);
      const user = readFileSync(join(dirname(id), '../dispatcher/client-h1.js'), 'utf8');
      const names = new Set(Array.from(user.matchAll(/\bconstants\.([A-Z]+)/g), ([, name]) => name));
      return `module.exports = ${JSON.stringify(Object.fromEntries([...names].map((name) => [name, constants[name]])))};`;
    },
  };
}

const endpointsFile = /plugin-rest-endpoint-methods\/dist-src\/generated\/endpoints\.js$/;

/** Returns a plugin that keeps only those routes of GitHub's API that `src/github` calls. */
export function onlyCalledEndpoints() {
  return {
    name: 'only-called-endpoints',
    async load(id) {
      if (!endpointsFile.test(id)) return null;
      const { default: endpoints } = await import(pathToFileURL(id).href);
      const called = {};
      for (const file of readdirSync('src/github')) {
        for (const [, scope, name] of readFileSync(join('src/github', file), 'utf8').matchAll(/\boctokit\.(\w+)\.(\w+)/g)) {
          const route = endpoints[scope]?.[name];
          if (route !== undefined) called[scope] = { ...called[scope], [name]: route };
        }
      }
      return `export default ${JSON.stringify(called)};`;
    },
  };
}

/** Returns a plugin that ships the catalog of diagnostics compressed: SARIF and `explain CODE` alone read it. */
export function withCompressedCatalog() {
  return {
    name: 'with-compressed-catalog',
    load(id) {
      if (!id.endsWith('/src/model/catalog/diagnostics.json')) return null;
      const text = JSON.stringify(JSON.parse(readFileSync(id, 'utf8')));
      return { code: `import { brotliDecompressSync } from 'node:zlib';\nexport default ${unpacked(text)};`, moduleType: 'js' };
    },
  };
}

/** Returns an expression that unpacks JSON. */
function unpacked(json) {
  return `JSON.parse(brotliDecompressSync(Buffer.from('${brotliCompressSync(json).toString('base64')}', 'base64')).toString())`;
}
