import { expect, test } from 'vitest';
import { withSharedClasses } from '../.github/fast-spreads.js';

test.each([
  ['a literal that continues after a spread', 'f({...a,b:1})', 'f({...!1,...a,b:1})'],
  ['a literal inside another', 'f({...a,b:{...c,...d}})', 'f({...!1,...a,b:{...!1,...c,...d}})'],
])('%s begins with a spread of nothing', (_, before, after) => {
  expect(withSharedClasses(before)).toBe(after);
});

test.each(['f({...a})', 'f({b:1,...a})', 'f([...a,b])', 'f(...a,b)', 'let{...a}=b', '"{...a,b:1}"'])('%s stays as it is', (code) => {
  expect(withSharedClasses(code)).toBe(code);
});
