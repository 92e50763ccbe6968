// Generated from the folders beside this file by `npm run generate`; do not edit.
import type { Dialect } from '../dialect.ts';
import { interfaceDialect } from './interface/index.ts';
import { hoopDialect } from './hoop/index.ts';

/** All dialects; the default first. */
export const dialects: readonly Dialect[] = [interfaceDialect, hoopDialect];
