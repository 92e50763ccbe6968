import type { SampleSide } from '../../model/result/sample-result.ts';

/** Harmless texts by side; a rule that matches one of them is probably too broad. */
export const harmlessTexts: Readonly<Record<SampleSide, readonly string[]>> = {
  input: [
    'SELECT 1',
    'select 1;',
    'SELECT now();',
    'SELECT id, name FROM orders WHERE id = 42 LIMIT 10;',
    'EXPLAIN SELECT 1;',
    'ls',
    'ls -l',
    'pwd',
    'date',
    'echo ok',
    'GET /health',
  ],
  output: ['ok', '1', '(1 row)', ' ?column? \n----------\n        1\n(1 row)\n', 'total 0', '{"status":"ok"}', 'HTTP/1.1 200 OK'],
  text: ['ok', '1', '(1 row)', 'total 0', 'true', 'null'],
};
