import { parseSync, Visitor, type ESTree } from 'rolldown/utils';

/** Members that read a stopwatch. */
const stopwatches: ReadonlySet<string> = new Set(
  'performance.now performance.mark performance.measure performance.timeOrigin process.hrtime process.cpuUsage process.threadCpuUsage process.resourceUsage process.uptime console.time'.split(
    ' ',
  ),
);
const comparisons: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);
/** The shortest limit that only ends a test which hangs, in milliseconds. */
const hangMs = 30_000;

/**
 * Returns where a test depends on how fast a machine is: it reads a stopwatch, compares moments, has a limit for tests that hang which others
 * may reach, or pauses for a fixed time instead of polling; each as its line and its text.
 */
export function clockUses(path: string, text: string): readonly string[] {
  const found: string[] = [];
  const pauses = new Set<string>();
  const around: ('loop' | 'function')[] = [];
  const textOf = ({ start, end }: ESTree.Node): string => text.slice(start, end);
  const note = (node: ESTree.Node, what: string = textOf(node)): void =>
    void found.push(`${text.slice(0, node.start).split('\n').length} ${what}`);
  const enter = (kind: 'loop' | 'function') => (): void => void around.push(kind);
  const leave = (): void => void around.pop();
  const isPause = ({ type, callee }: ESTree.CallExpression): boolean => type === 'CallExpression' && pauses.has(textOf(callee));
  const isNow = (node: ESTree.Node): boolean => textOf(node) === 'Date.now()';
  const visitor = new Visitor({
    ImportDeclaration({ source, specifiers }) {
      if (source.value.endsWith('perf_hooks')) note(source);
      for (const { type, local, ...rest } of source.value.endsWith('timers/promises') ? specifiers : [])
        if (type === 'ImportSpecifier' && 'imported' in rest && textOf(rest.imported) === 'setTimeout') pauses.add(local.name);
    },
    MemberExpression(node) {
      if (stopwatches.has(textOf(node))) note(node);
    },
    BinaryExpression(node) {
      const { left, right, operator } = node;
      const isMoment = right.type === 'Identifier' || right.type === 'MemberExpression';
      const isElapsed = operator === '-' && (isNow(right) || (isNow(left) && isMoment));
      if (isElapsed || (comparisons.has(operator) && (isNow(left) || isNow(right)))) note(node);
    },
    Property(node) {
      const limit = node.value.type === 'Literal' ? node.value.value : undefined;
      if (textOf(node.key) === 'timeout' && typeof limit === 'number' && limit > 0 && limit < hangMs) note(node);
    },
    CallExpression(node) {
      const last = node.arguments.at(-1);
      const limit = last?.type === 'Literal' ? last.value : undefined;
      const isTest = /^(?:it|test|before|after)(?:All|Each|\b)/.test(textOf(node.callee)) && node.arguments.length > 1;
      if (isTest && typeof limit === 'number' && limit < hangMs) note(node, `a limit of ${limit}`);
    },
    AwaitExpression(node) {
      const { argument } = node;
      const isMade = argument.type === 'NewExpression' && textOf(argument.callee) === 'Promise' && /\bsetTimeout\(/.test(textOf(argument));
      if ((isMade || (argument.type === 'CallExpression' && isPause(argument))) && around.at(-1) !== 'loop') note(node);
    },
    ForStatement: enter('loop'),
    'ForStatement:exit': leave,
    ForOfStatement: enter('loop'),
    'ForOfStatement:exit': leave,
    WhileStatement: enter('loop'),
    'WhileStatement:exit': leave,
    FunctionDeclaration: enter('function'),
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter('function'),
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter('function'),
    'ArrowFunctionExpression:exit': leave,
  });
  visitor.visit(parseSync(path, text).program);
  return found;
}
