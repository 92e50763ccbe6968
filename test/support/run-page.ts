import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtPackage } from './cli.ts';
import { freePort } from './free-port.ts';
import { refreshOutput } from './page-output.ts';
import { partsOf, type PageCommand } from './page-steps.ts';

/** The port that pages name; the runner uses a free one instead. */
const pagePort = '8009';

type Shell = {
  /** Runs one command line as a terminal would and returns what it prints. */
  readonly run: (line: string) => Promise<{ readonly output: string; readonly code: number }>;
  readonly close: () => void;
};

/**
 * Takes every step of a page in an empty folder, with one shell, and returns the page with the real output of its commands. Output that differs only
 * in digests, ids, times or what `…` stands for stays as the page has it, so the result equals the page if the page is right. The variables of
 * `database` name one that opens faster than the folder that `ostiary serve` creates.
 */
export async function runPage(page: string, folder: string, database: Readonly<Record<string, string>> = {}): Promise<string> {
  const port = String(await freePort());
  const toReal = (text: string): string => text.replaceAll(pagePort, port);
  const shell = openShell(folder, await commandFolder(folder, port), database);
  try {
    const rendered: string[] = [];
    let place = folder;
    for (const part of partsOf(page)) {
      if (part.kind === 'commands') {
        const blocks: string[] = [];
        for (const command of part.commands) {
          const output = part.isServer ? await startServer(shell, command, port) : (await shell.run(toReal(command.line))).output;
          const shown = refreshOutput(command.shown, output.replaceAll(port, pagePort).replaceAll(folder, '~'));
          blocks.push(`$ ${[command.line, ...shown].join('\n')}\n`);
        }
        place = (await shell.run('pwd')).output;
        rendered.push(`${part.open}\n${blocks.join('')}\`\`\``);
        continue;
      }
      rendered.push(part.text);
      if (part.kind === 'hidden') {
        for (const line of part.lines) {
          const { output, code } = await shell.run(toReal(line));
          if (code !== 0) throw new Error(`${line} ended with ${code}: ${output}`);
        }
        place = (await shell.run('pwd')).output;
      }
      if (part.kind === 'file') writeInto(join(place, part.path), toReal(part.content));
      if (part.kind === 'edit') editFile(join(place, part.path), part.before, part.after);
    }
    return rendered.join('');
  } finally {
    shell.close();
  }
}

function writeInto(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function editFile(path: string, before: string, after: string): void {
  const text = readFileSync(path, 'utf8');
  if (text.split(before).length !== 2) throw new Error(`${path} must have these lines once:\n${before}\nin\n${text}`);
  writeFileSync(
    path,
    text.replace(before, () => after),
  );
}

/** Makes a folder with the command `ostiary`; its servers and first projects use the free port. */
async function commandFolder(folder: string, port: string): Promise<string> {
  const commands = join(folder, '.commands');
  const cli = join(await builtPackage(), 'dist', 'cli.js');
  const script = `#!/bin/sh
case "$1" in
  serve) exec '${process.execPath}' --liftoff-only '${cli}' "$@" --port ${port} --log text ;;
  init) '${process.execPath}' '${cli}' "$@" && sed -i.before 's/${pagePort}/${port}/' ostiary.yaml && rm ostiary.yaml.before ;;
  *) exec '${process.execPath}' '${cli}' "$@" ;;
esac
`;
  writeInto(join(commands, 'ostiary'), script);
  chmodSync(join(commands, 'ostiary'), 0o755);
  return commands;
}

/** Starts a command that keeps running and returns its first lines, once it answers. */
async function startServer(shell: Shell, { line }: PageCommand, port: string): Promise<string> {
  const wait = `for _ in $(seq 600); do curl -s -o /dev/null http://127.0.0.1:${port}/readyz && break; sleep 0.1; done; head -n 1 "$HOME/server.log"`;
  await shell.run(`{ ${line}; } > "$HOME/server.log" 2>&1 &`);
  return (await shell.run(wait)).output.replace('from PostgreSQL', 'from a folder');
}

function openShell(folder: string, commands: string, database: Readonly<Record<string, string>>): Shell {
  const home = join(folder, '.home');
  writeInto(
    join(home, '.gitconfig'),
    '[user]\n  name = Ada\n  email = ada@example.com\n[init]\n  defaultBranch = main\n[maintenance]\n  auto = false\n',
  );
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...database,
      REPOSITORY: process.cwd(),
      PATH: `${commands}:${process.env['PATH'] ?? ''}`,
      HOME: home,
      GIT_CONFIG_NOSYSTEM: '1',
      LANG: 'C.UTF-8',
    },
  });
  const end = '== end of the command ==';
  let printed = '';
  let settle: ((text: string) => void) | undefined;
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    printed += part;
    if (settle !== undefined && new RegExp(`${end} \\d+\n$`).test(printed)) settle(printed);
  });
  child.stdin.write('exec 2>&1\nlast=0\n');
  return {
    async run(line) {
      printed = '';
      const whole = await new Promise<string>((resolve) => {
        settle = resolve;
        child.stdin.write(`(exit $last)\n{ ${line}\n} < /dev/null\nlast=$?\nprintf '\\n%s %s\\n' '${end}' $last\n`);
      });
      const [, output = '', code = ''] = new RegExp(`^([\\s\\S]*)\n${end} (\\d+)\n$`).exec(whole) ?? [];
      return { output: output.trimEnd(), code: Number(code) };
    },
    close() {
      child.stdin.end();
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    },
  };
}
