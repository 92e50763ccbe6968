import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A file of a commit: its text, or its content and another mode (executable, link, submodule). */
export type CommitFile = string | Buffer | { readonly mode: '120000' | '160000' | '100755'; readonly content: string };

/** Creates a bare repository, or adds a commit to it, whose head has exactly these files; returns the commit. */
export async function commitFiles(
  folder: string,
  files: Readonly<Record<string, CommitFile>>,
  message = 'First runbooks\n',
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const git = promisify(execFile);
  await git('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  const stream: (string | Buffer)[] = [
    'commit refs/heads/main\n',
    'committer A <a@example.com> 1700000000 +0000\n',
    `data ${Buffer.byteLength(message)}\n${message}\n`,
    'deleteall\n',
  ];
  for (const [path, file] of Object.entries(files)) {
    const { mode, content } = typeof file === 'string' || Buffer.isBuffer(file) ? { mode: '100644', content: file } : file;
    const size = Buffer.byteLength(content);
    stream.push(
      ...(mode === '160000' ? [`M ${mode} ${content.toString()} ${path}\n`] : [`M ${mode} inline ${path}\ndata ${size}\n`, content, '\n']),
    );
  }
  const running = spawn('git', ['-C', folder, 'fast-import', '--quiet', '--force'], { stdio: ['pipe', 'ignore', 'inherit'] });
  running.stdin.end(Buffer.concat(stream.map((part) => Buffer.from(part))));
  await new Promise((resolve) => running.once('close', resolve));
  const { stdout } = await git('git', ['-C', folder, 'rev-parse', 'refs/heads/main']);
  return stdout.trim();
}

/** A request that a server received. */
export type GitRequest = { readonly path: string; readonly authorization: string | undefined };

export type GitServer = {
  readonly url: string;
  readonly requests: readonly GitRequest[];
  /** Returns the number of open connections. */
  readonly countConnections: () => Promise<number>;
  readonly close: () => Promise<void>;
};

export type GitServerOptions = {
  /** The parent folder of the repositories. */
  readonly root: string;
  /** The required user and password; without a login, everyone can read. */
  readonly login?: { readonly user: string; readonly password: string };
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Responds instead of the server and returns true, or returns false. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
};

/** Serves repositories over git's smart protocol with `git http-backend`. */
export async function startGitServer({ root, login, tls, intercept: instead }: GitServerOptions): Promise<GitServer> {
  const requests: GitRequest[] = [];
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const { authorization, host } = request.headers;
    requests.push({ path: `${host}${request.url}`, authorization });
    if (instead?.(request, response) === true) return;
    const expected = login === undefined ? undefined : `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
    // The name of the scheme is case-insensitive.
    if (expected === undefined || authorization?.replace(/^basic /i, 'Basic ') === expected) runBackend(root, request, response);
    else response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
  };
  const server = tls === undefined ? createHttpServer(respond) : createHttpsServer(tls, respond);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests,
    countConnections: () => promisify(server.getConnections.bind(server))(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: request.headers['git-protocol']?.toString(),
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
    },
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  backend.once('close', () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf('\r\n\r\n');
    const lines = whole.toString('latin1', 0, end).split('\r\n');
    const headers = lines.map((line) => line.split(': ')).filter(([name]) => name !== 'Status');
    const status = Number(/^Status: (\d+)/m.exec(lines.join('\n'))?.[1] ?? 200);
    response.writeHead(status, Object.fromEntries(headers)).end(whole.subarray(end + 4));
  });
}

/** Writes a shell script as a program into the folder, and returns a PATH that starts with the folder. */
export async function installProgram(folder: string, name: string, script: string): Promise<Readonly<Record<string, string>>> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}`);
  await chmod(path, 0o755);
  return { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
}
