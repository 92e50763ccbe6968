// A plugin of the bundler and of the tests, for Node 20 alone. There, `{ ...one, more }` gives every object a hidden class of its
// own: making it takes ten times as long, and every later access searches for the property. The same literal after a spread of
// nothing shares one class. Node 22 and later need no help, and lose nothing that can be measured in a plan.
import { parseSync, Visitor } from 'rolldown/utils';

/** Returns the code with `...!1` before each spread that begins a longer object literal, which changes no value. */
export function withSharedClasses(code) {
  const starts = [];
  const visitor = new Visitor({
    ObjectExpression({ properties: [first, second] }) {
      if (first?.type === 'SpreadElement' && second !== undefined) starts.push(first.start);
    },
  });
  visitor.visit(parseSync('chunk.js', code).program);
  let text = '';
  let end = 0;
  for (const start of starts.toSorted((left, right) => left - right)) {
    text += `${code.slice(end, start)}...!1,`;
    end = start;
  }
  return text + code.slice(end);
}

/** Returns the plugin of the bundler: it changes the finished chunks, because minifying removes spreads of nothing. */
export function fastSpreads() {
  return {
    name: 'fast-spreads',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk') chunk.code = withSharedClasses(chunk.code);
    },
  };
}
