export type GitOptions = {
  /** The whole environment: nothing of the process's own reaches git. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input?: string;
  /** More bytes than these end the run. */
  readonly largestOutput: number;
  /** Takes the output part by part instead of collecting it; what it throws ends the run and is thrown. */
  readonly hear?: (part: Buffer) => void;
  /** Ends the run, together with everything that git started. */
  readonly signal: AbortSignal;
};

/** What became of a run; `failure` says why there is no use in its output. */
export type GitRun = { readonly output: Buffer } | { readonly failure: string; readonly ended?: GitEnd };

/** How git ended by itself where it did not succeed: its exit code, and all that it said. */
export type GitEnd = { readonly code: number; readonly output: Buffer; readonly complaint: string } | { readonly cause: Error };

// Only the end of what git complains about is of use, and a remote can make it say anything.
const largestComplaint = 16 * 1024;

/** Runs git with exactly these arguments; never throws for what git or the network does. */
export async function runGit(args: readonly string[], options: GitOptions): Promise<GitRun> {
  const { env, cwd, input = '', largestOutput, hear, signal } = options;
  // Loaded with the first run: most commands never ask git.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve({ failure: reasonOf(signal) });
      return;
    }
    // A group of its own, so that helpers (ssh, remote-https) end with it; and no terminal that they could ask at.
    const git = spawn('git', args, { env, cwd, detached: true, windowsHide: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    let size = 0;
    let complaint = '';
    let failure: string | undefined;
    let cause: Error | undefined;
    const end = (reason: string): void => {
      failure ??= reason;
      endGroup(git.pid);
      git.stdout.destroy();
      git.stderr.destroy();
    };
    const stop = (): void => end(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
    git.stdout.on('data', (chunk: Buffer) => {
      if (hear === undefined) output.push(chunk);
      else
        attempt(
          () => hear(chunk),
          (error) => {
            reject(error);
            end(error.message);
          },
        );
      size += chunk.length;
      if (size > largestOutput) end(`git answers with more than ${largestOutput} bytes`);
    });
    git.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-largestComplaint);
    });
    // Git may be gone before it has read everything; its exit tells.
    git.stdin.on('error', () => undefined);
    git.stdin.end(input);
    git.once('error', (error) => {
      failure ??= `git cannot be run: ${error.message}`;
      cause = error;
    });
    git.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      const all = Buffer.concat(output);
      if (failure !== undefined) resolve({ failure, ...(cause === undefined ? {} : { ended: { cause } }) });
      else resolve(code === 0 ? { output: all } : { failure: complaintOf(complaint), ended: { code: code ?? -1, output: all, complaint } });
    });
  });
}

function attempt(action: () => void, fail: (error: Error) => void): void {
  try {
    action();
  } catch (error) {
    fail(error instanceof Error ? error : new Error(String(error)));
  }
}

function endGroup(id: number | undefined): void {
  if (id === undefined) return;
  try {
    process.kill(-id, 'SIGKILL');
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error && reason.name !== 'TimeoutError' && reason.name !== 'AbortError' ? reason.message : 'no answer in time';
}

/** What git and ssh say, on one line: no advice, no control characters, not too much. */
function complaintOf(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replaceAll(/[\p{Cc}\p{Cf}\p{Surrogate}]/gu, '').trim());
  const told = lines.filter(
    (line) => line !== '' && !/^(warning|hint|Warning|Please make sure|and the repository exists|ssh-keygen)/.test(line),
  );
  const telling = told.filter((line) => line !== 'fatal: Could not read from remote repository.');
  const chosen = (telling.length > 0 ? telling : told).slice(-3).join('; ');
  return chosen === '' ? 'git failed without a word' : chosen.slice(0, 400);
}
