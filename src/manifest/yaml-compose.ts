import { Composer, type Document, Lexer, Parser, type YAMLError } from 'yaml';
import { maxDepth } from './strict-cursor.ts';

/** What `yaml` made of a text, or why it was stopped at the offset. */
export type Composed =
  | { readonly documents: readonly Document.Parsed[]; readonly errors: readonly YAMLError[] }
  | { readonly stopped: 'too-deep' | 'too-blank' | 'too-dense'; readonly offset: number };

/** Far below where `yaml` fails, and above `maxDepth`, so that a text just too deep is read and told of at the very place. */
const maxStack = 2 * maxDepth;

/** More blank lines than this before a comment take `yaml` seconds. */
const maxBlankLines = 500;

/** `yaml` takes 3 µs for each word and each sign; a mebibyte of manifests as people write them has 300,000. */
const maxLexemes = 500_000;

/**
 * Composes a text's documents. The parser is fed by hand, because `yaml` recurses over what is nested and a deep enough
 * text aborts the process: the parser's own stack says how deep it is before anything recurses. The tokens of nodes are
 * kept for whoever edits the text.
 */
export function compose(text: string, { keepTokens = false }: { readonly keepTokens?: boolean } = {}): Composed {
  const parser = new Parser();
  const composer = new Composer({
    schema: 'core',
    resolveKnownTags: false,
    uniqueKeys: false,
    logLevel: 'silent',
    keepSourceTokens: keepTokens,
  });
  const documents: Document.Parsed[] = [];
  let blankLines = 0;
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    if (parser.stack.length > maxStack) return { stopped: 'too-deep', offset: parser.offset };
    if (lexeme === '\n' || lexeme === '\r\n') blankLines += 1;
    else if (lexeme.trim() !== '') blankLines = 0;
    lexemes += 1;
    if (lexemes > maxLexemes) return { stopped: 'too-dense', offset: parser.offset };
    if (blankLines > maxBlankLines) return { stopped: 'too-blank', offset: parser.offset };
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  const errors = documents.flatMap((document) => [...document.errors, ...document.warnings]);
  return { documents, errors: documents.length > 0 ? errors : composer.streamInfo().errors };
}
