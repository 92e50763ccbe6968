import { readCertificates } from '../../disk/text-file.ts';
import type { NetworkOptions } from '../../gateway/http/transport.ts';
import type { SessionOptions } from '../../gateway/session.ts';
import { openGateway } from '../../gateway/open-gateway.ts';
import { openSnapshot } from '../../gateway/snapshot.ts';
import { openService } from '../../gateway/service/open-service.ts';
import { readableKinds } from '../../kinds/watched.ts';
import type { Gateway, GatewayIdentity, GatewaySnapshot } from '../../model/gateway.ts';
import type { Target } from '../../model/config.ts';
import type { Checked, Diagnostic } from '../../model/diagnostic.ts';
import { AppError, UsageError } from '../../model/errors.ts';
import type { RequestEvent, RetryEvent } from '../../model/result/outcome.ts';
import type { LiveState } from '../../model/live.ts';
import type { Service } from '../../model/service.ts';
import type { TrackSteps } from '../../model/concurrency.ts';
import type { NeededPart } from '../../reconcile/prepare/needed-objects.ts';
import type { OutputFlags, TargetFlags } from '../context/options.ts';
import { withTargetTls } from './read-pem.ts';
import { counted, interject, waiting } from '../output/progress.ts';
import { printerFor } from '../output/printer.ts';
import { escapeTerminal } from '../../report/escape.ts';
import type { WholeProject } from '../../project/project.ts';
import { overriddenUrl } from '../../project/resolved-config.ts';
import type { CliContext } from '../context/cli-context.ts';

type ConnectOptions = {
  readonly flags: TargetFlags;
  readonly context: CliContext;
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** What is read instead of the gateway. */
  readonly snapshot?: GatewaySnapshot | undefined;
  /** Interrupts requests and pauses. */
  readonly signal?: AbortSignal;
  /** Returns whether the run waits for the gateway, so that a retry is worth a line; by default, always. */
  readonly isAwaited?: () => boolean;
};

/** Opens the target's gateway with the token from the environment, or a snapshot of it. Throws UsageError without a URL or a token. */
export async function connect(
  target: Target,
  connecting: ConnectOptions,
): Promise<{ readonly gateway: Gateway; readonly identity: GatewayIdentity }> {
  const { snapshot } = connecting;
  if (snapshot !== undefined) {
    const gateway = openSnapshot(snapshot);
    return { gateway, identity: await gateway.identify() };
  }
  const session = sessionOptions(target, connecting);
  return waiting(`connecting to ${target.url}`, connecting, async () => {
    const gateway = await openGateway({ ...session, registry: readableKinds });
    try {
      return { gateway, identity: await gateway.identify() };
    } catch (error) {
      await gateway.close();
      throw error;
    }
  });
}

/** Returns true if the token may write, as far as the gateway reports its role. */
export function mayWrite({ role }: GatewayIdentity): boolean {
  return role === undefined || role === 'admin';
}

/** Returns the target; a line on stderr names what overrides its URL. For commands whose output does not name the config. */
export function announceTarget({ config, target }: WholeProject, flags: OutputFlags, context: CliContext): Target {
  const override = overriddenUrl(config, target.name);
  if (override !== undefined)
    printerFor(context, flags).hint(`${escapeTerminal(`${target.name}  ${target.url}  config ${config.file ?? ''}, ${override}`)}\n`);
  return target;
}

/** Opens the target's service, for look-ups, review decisions and the audit log, and closes it after the work. */
export async function withService<T>(target: Target, connecting: ConnectOptions, work: (service: Service) => Promise<T>): Promise<T> {
  const session = sessionOptions(target, connecting);
  const service = await waiting(`connecting to ${session.url}`, connecting, () => openService(session));
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

/** Returns the diagnostics of invalid manifests with that of a missing token, so that one run names all missing variables. */
export function withMissingToken(found: readonly Diagnostic[], target: Target, context: CliContext): readonly Diagnostic[] {
  if (!isPlainAddress(target.url) || tokenOf(target, context) !== '') return found;
  const { message, hint = '' } = missingToken(target);
  return [...found, { code: 'cli/usage', severity: 'error', message, hint }];
}

const secretCodes: ReadonlySet<string> = new Set(['secret/undefined-variable', 'secret/unreadable-file']);

/** Adds to the hint of each secret that cannot be read how to go on without its value. */
export function withSecretsHint(found: readonly Diagnostic[]): readonly Diagnostic[] {
  return found.map((one) =>
    secretCodes.has(one.code) ? { ...one, hint: `${one.hint ?? ''}, or pass --secrets unresolved to go without the value` } : one,
  );
}

function tokenOf(target: Target, { env }: CliContext): string {
  return env[target.token.env] ?? '';
}

function missingToken({ url, token }: Target): UsageError {
  return new UsageError(`missing token for ${url}`, `set ${token.env} in the environment`);
}

function sessionOptions(target: Target, { flags, context, onRequest, signal, isAwaited }: ConnectOptions): SessionOptions {
  if (target.url === '')
    throw new UsageError('no gateway is configured', 'run ostiary init to create ostiary.yaml, pass --url, or set OSTIARY_URL');
  requireAddress(target.url);
  const token = tokenOf(target, context);
  if (token === '') throw missingToken(target);
  context.onEvent?.({ secret: token });
  const { url, auth, dialect, readConcurrency } = target;
  const observers = [...(onRequest === undefined ? [] : [onRequest]), ...(flags.verbose === true ? [requestPrinter(flags, context)] : [])];
  return {
    url,
    token,
    tokenName: target.token.env,
    auth,
    dialect,
    readConcurrency,
    signal,
    sleep: context.sleep,
    network: withTargetTls(readNetwork(context.env), target, context),
    transport: context.transportTo?.(url),
    onRetry: retryPrinter(flags, context, isAwaited),
    onRequest: observers.length === 0 ? undefined : (event) => observers.forEach((observe) => observe(event)),
  };
}

/** Returns a function that prints one line for each request: method, path, result and time. */
function requestPrinter(flags: TargetFlags, context: CliContext): (event: RequestEvent) => void {
  const { note, errors } = printerFor(context, flags);
  return ({ method, path, attempt, status, code, elapsedMs }) => {
    const again = attempt > 1 ? `  attempt ${attempt}` : '';
    note(errors.color.dim(`${method} ${escapeTerminal(path)}  ${status ?? code ?? ''}  ${elapsedMs} ms${again}`) + '\n');
  };
}

/** In milliseconds: requests that run together fail together. */
const betweenRetryLines = 1000;

/** Returns a function that prints retries: on a terminal at most one each second, with --verbose all of them. */
function retryPrinter(flags: TargetFlags, context: CliContext, isAwaited: () => boolean = () => true): (event: RetryEvent) => void {
  const isVerbose = flags.verbose === true;
  if (!isVerbose && (flags.quiet || !context.stderr.isTTY)) return () => undefined;
  let next = Number.NEGATIVE_INFINITY;
  return ({ message, pauseMs }) => {
    const now = performance.now();
    if (!isVerbose && (now < next || !isAwaited())) return;
    next = now + betweenRetryLines;
    interject(`${escapeTerminal(message)}; ${pauseMs < 50 ? 'retrying now' : `retrying in ${(pauseMs / 1000).toFixed(1)} s`}`, context);
  };
}

function isPlainAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
}

/** Throws UsageError for anything but a plain http(s) address; does not repeat a text that may contain credentials. */
function requireAddress(text: string): void {
  if (isPlainAddress(text)) return;
  const shown = /[@?#]/.test(text) ? '' : ` "${text}"`;
  throw new UsageError(
    `invalid gateway URL${shown}: expected http(s)://HOST/PATH without credentials, query and fragment`,
    'example: https://gateway.example.com/api; pass the token in an environment variable',
  );
}

type ReadContext = { readonly flags: TargetFlags; readonly context: CliContext };

/** Reads the live state. Throws AppError for a list that cannot be proven complete, because nothing may be concluded from it. */
export async function readLive(
  gateway: Gateway,
  { flags, context, part }: ReadContext & { readonly part?: NeededPart | undefined },
  kinds: readonly string[] = part?.kinds ?? [...readableKinds.keys()],
): Promise<LiveState> {
  return requireWhole(await waiting('reading the gateway', { flags, context }, () => gateway.readAll(kinds, part)));
}

/** Shows how many objects were read one at a time. */
export function trackSecretReads({ flags, context }: { readonly flags: OutputFlags; readonly context: CliContext }): TrackSteps {
  return (total, work) => counted('reading secrets', total, { flags, context, work });
}

/** Returns the value of a read. Throws AppError if there is none. */
export function requireWhole<T>({ value, diagnostics }: Checked<T>): T {
  if (value !== undefined) return value;
  const [first] = diagnostics;
  throw new AppError(
    first?.code ?? 'api/list-not-whole',
    4,
    `${first?.message ?? 'incomplete listing from the gateway'}; nothing was changed`,
    { hint: first?.hint },
  );
}

/** Reads the proxies and the certificates of the environment; undefined if it has none. Throws UsageError for an invalid proxy. */
export function readNetwork(env: CliContext['env']): NetworkOptions | undefined {
  const [http, https] = [proxyIn(env, 'http_proxy'), proxyIn(env, 'https_proxy')];
  const proxies = http === '' && https === '' ? undefined : { http, https, exceptions: proxyVariable(env, 'no_proxy') };
  const file = env['SSL_CERT_FILE'] ?? '';
  if (proxies === undefined && file === '') return undefined;
  const certificates = file === '' ? [] : ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].flatMap((name) => certificatesIn(env, name));
  return { certificates, proxies };
}

function certificatesIn(env: CliContext['env'], variable: string): readonly string[] {
  const path = env[variable] ?? '';
  return path === '' ? [] : [readCertificates(path, variable)];
}

/** Returns the value of a variable that is spelled in lower case, otherwise in upper case, as other programs read it. */
function proxyVariable(env: CliContext['env'], name: string): string {
  return env[name] ?? env[name.toUpperCase()] ?? '';
}

/** Returns the URL of a proxy; an address without a scheme is an http one. Does not repeat the value, which may contain a password. */
function proxyIn(env: CliContext['env'], name: string): string {
  const text = proxyVariable(env, name);
  if (text === '') return '';
  const url = text.includes('://') ? text : `http://${text}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  const variable = env[name] === undefined ? name.toUpperCase() : name;
  throw new UsageError(`invalid URL in ${variable}: expected http or https`, 'example: http://proxy.example.com:3128');
}
