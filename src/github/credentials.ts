type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment in which git reaches the server of a repository with the job's token, whatever the checkout keeps in its
 * own settings; nothing is written to a file.
 */
export function withCredentials(env: Environment, token: string, page: string): Environment {
  if (token === '') return env;
  const key = `http.${new URL('/', page).href}.extraheader`;
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  const from = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  // The empty value drops what the checkout may have kept: GitHub refuses two headers.
  const values = ['', `AUTHORIZATION: basic ${basic}`];
  const settings = values.flatMap((value, index) => [
    [`GIT_CONFIG_KEY_${from + index}`, key],
    [`GIT_CONFIG_VALUE_${from + index}`, value],
  ]);
  return { ...env, GIT_CONFIG_COUNT: String(from + values.length), ...Object.fromEntries(settings) };
}
