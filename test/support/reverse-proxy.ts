import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { start } from './cli.ts';
import { freePort } from './free-port.ts';

/** A reverse proxy before a gateway. */
export type ReverseProxy = { readonly url: string; readonly program: string; readonly close: () => Promise<void> };

/** Starts nginx before a gateway if it is on the PATH, otherwise a proxy that changes responses as nginx does. */
export async function startReverseProxy(target: string): Promise<ReverseProxy> {
  const nginx = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'nginx'))
    .find(isExecutable);
  return nginx === undefined ? startStrictProxy(target) : startNginx(nginx, target);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts nginx with its own header `Server`; the filter makes it chunk every body and weaken every `ETag`. */
async function startNginx(program: string, target: string): Promise<ReverseProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-nginx-'));
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http { access_log off; ${temporary} gzip on; gzip_proxied any; gzip_types *;
  server { listen 127.0.0.1:${port};
    location / { proxy_pass ${target}; proxy_http_version 1.1; sub_filter_types *; sub_filter_once on; sub_filter 'never in a body' ''; } } }\n`,
  );
  const { child, ended } = start(program, ['-p', folder, '-e', `${folder}/error.log`, '-c', join(folder, 'nginx.conf')], { cwd: folder });
  const url = `http://127.0.0.1:${port}`;
  while (!(await isUp(url))) await setTimeout(50);
  return {
    url,
    program,
    async close() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isUp(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}

/** Starts a proxy that replaces `Server`, compresses and chunks every body, and weakens every `ETag`. */
async function startStrictProxy(target: string): Promise<ReverseProxy> {
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const onward = sendRequest(`${target}${url ?? ''}`, { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const { 'content-length': _, connection: __, 'transfer-encoding': ___, ...rest } = answer.headers;
        const body = Buffer.concat(parts);
        const { etag } = rest;
        const changed = body.length === 0 ? {} : { 'content-encoding': 'gzip', ...(etag === undefined ? {} : { etag: `W/${etag}` }) };
        response.writeHead(answer.statusCode ?? 502, { ...rest, server: 'nginx', ...changed });
        response.end(body.length === 0 ? undefined : gzipSync(body));
      });
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    program: 'strict proxy',
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
