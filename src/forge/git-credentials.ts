import type { JobEnvironment } from './ci-system.ts';

/**
 * Returns the environment in which git uses the job's token for the server of the repository, whatever the checkout's own settings
 * contain; no file is written.
 */
export function withGitCredentials(env: JobEnvironment, user: string, token: string, page: string): JobEnvironment {
  if (token === '') return env;
  const key = `http.${new URL('/', page).href}.extraheader`;
  const basic = Buffer.from(`${user}:${token}`).toString('base64');
  const from = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  // The empty value clears the header of the checkout's settings: servers refuse two.
  const values = ['', `AUTHORIZATION: basic ${basic}`];
  const settings = values.flatMap((value, index) => [
    [`GIT_CONFIG_KEY_${from + index}`, key],
    [`GIT_CONFIG_VALUE_${from + index}`, value],
  ]);
  return { ...env, GIT_CONFIG_COUNT: String(from + values.length), ...Object.fromEntries(settings) };
}
