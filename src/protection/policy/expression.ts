import type { ASTNode } from '@marcbachmann/cel-js';
import type { PatternCompiler } from '../pattern/compile.ts';
import { UnavailableError } from './variables.ts';

/** What an expression may not be, at a character of it. */
export type Objection = { readonly message: string; readonly hint: string; readonly start: number };

/** More than this nobody reads, and 1 MB of it would take its time. */
export const maxLength = 2000;
/** How deep macros may stand in each other: rules, their entries, the entries' words. */
const maxDepth = 3;
/** How often the innermost part may be gone through for lists that are written out. */
const maxIterations = 20_000;

const macros = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
const functions = new Set([
  ...macros,
  'has',
  'size',
  'contains',
  'startsWith',
  'endsWith',
  'lowerAscii',
  'upperAscii',
  'trim',
  'int',
  'double',
  'string',
  're',
]);

/** Looks through an expression for what would take too long or could mean anything; undefined where it is sound. */
export function findObjection(root: ASTNode, patterns: PatternCompiler): Objection | undefined {
  let found: Objection | undefined;
  const visit = (node: ASTNode, depth: number, turns: number): void => {
    if (found !== undefined) return;
    const name = calledIn(node);
    const inner = name !== undefined && macros.has(name) ? { depth: depth + 1, turns: turns * literalSize(node) } : { depth, turns };
    found = objectionAt(node, name, inner) ?? (name === 're' ? patternObjection(node, patterns) : undefined);
    for (const child of childrenOf(node)) visit(child, inner.depth, inner.turns);
  };
  visit(root, 0, 1);
  return found;
}

function objectionAt(
  node: ASTNode,
  name: string | undefined,
  inner: { readonly depth: number; readonly turns: number },
): Objection | undefined {
  const { start } = node;
  if (inner.depth > maxDepth)
    return { message: `macros stand in each other more than ${maxDepth} deep`, hint: 'write several expressions', start };
  if (inner.turns > maxIterations) return { message: 'lists are gone through within lists too often', hint: 'write shorter lists', start };
  if (name === 'matches') return { message: 'matches can take forever', hint: 'write TEXT.re("PATTERN"), which takes RE2 patterns', start };
  if (name !== undefined && !functions.has(name)) {
    return { message: `there is no function "${name}" here`, hint: `there are ${[...functions].toSorted().join(', ')}`, start };
  }
  return undefined;
}

/** Patterns are compiled when a policy is loaded, so each has to stand there. */
function patternObjection(node: ASTNode, patterns: PatternCompiler): Objection | undefined {
  const { start } = node;
  const pattern = node.op === 'rcall' ? node.args[2][0] : undefined;
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string')
    return { message: 're takes a pattern in quotes', hint: 'write TEXT.re("PATTERN")', start };
  const made = patterns(pattern.args);
  if ('tooLarge' in made) return { message: 'the pattern is too large', hint: 'lower its repeat counts', start: pattern.start };
  if ('pattern' in made) return undefined;
  const { what, hint = 'RE2 has no look-around and no back-references' } = made.refusal;
  return { message: `RE2 refuses the pattern: ${what}`, hint, start: pattern.start };
}

/** Tells whether a pattern, which was compiled before, is somewhere in the text; throws where that takes too long. */
export function findsPattern(text: string, pattern: string, patterns: PatternCompiler): boolean {
  const made = patterns(pattern);
  const found = 'pattern' in made ? made.pattern.finds(text) : undefined;
  if (found === undefined) throw new UnavailableError('there is too much to go through');
  return found;
}

/** The fields of types, and their types. */
export type FieldTypes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A field that `has` is asked for and that no value has: it would be false for ever, and no type check tells. */
export function missingField(root: ASTNode, types: FieldTypes): (Pick<Objection, 'start'> & { readonly field: string }) | undefined {
  const all = new Map(Object.values(types).flatMap((fields) => Object.entries(fields)));
  let found: ReturnType<typeof missingField>;
  const visit = (node: ASTNode): void => {
    const asked = node.op === 'call' && node.args[0] === 'has' ? node.args[1][0] : undefined;
    if (asked?.op === '.') {
      const [owner, field] = asked.args;
      const type = owner.op === '.' ? (all.get(owner.args[1]) ?? '') : owner.op === 'id' && owner.args === 'connection' ? 'Connection' : '';
      const isKnown = type.startsWith('map') || (types[type] === undefined ? all.has(field) : Object.hasOwn(types[type], field));
      if (!isKnown) found ??= { field, start: asked.end - field.length };
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(root);
  return found;
}

/** The fields of a variable that an expression names, in the order in which they stand. */
export function fieldsNamed(root: ASTNode, variable: string): readonly string[] {
  const names = new Set<string>();
  const visit = (node: ASTNode): void => {
    if (node.op === '.' && node.args[0].op === 'id' && node.args[0].args === variable) names.add(node.args[1]);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(root);
  return [...names];
}

function calledIn(node: ASTNode): string | undefined {
  return node.op === 'call' || node.op === 'rcall' ? node.args[0] : undefined;
}

/** How many entries the lists and maps have that a macro is called on and that are written out. */
function literalSize(node: ASTNode): number {
  const receiver = node.op === 'rcall' ? node.args[1] : undefined;
  let size = 0;
  const visit = (one: ASTNode): void => {
    if (one.op === 'list' || one.op === 'map') size += one.args.length;
    for (const child of childrenOf(one)) visit(child);
  };
  if (receiver !== undefined) visit(receiver);
  return Math.max(1, size);
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'value' || node.op === 'id') return [];
  if (node.op === '.' || node.op === '.?') return [node.args[0]];
  if (node.op === 'call') return node.args[1];
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]];
  if (node.op === 'map') return node.args.flat();
  return node.op === '!_' || node.op === '-_' ? [node.args] : node.args;
}
