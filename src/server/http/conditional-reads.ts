import type { MiddlewareHandler } from 'hono';
import { Rejection } from '../rejection.ts';
import { type AppEnv, conditionsOf } from '../routes/request-context.ts';
import { isExcludedTag, isRequiredTag } from '../rules/versions.ts';

/** Answers a read of an object that has another version than `If-Match` requires with 412, and of a version that the caller has with 304. */
export const answerConditionalReads: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { method } = c.req;
  const conditions = conditionsOf(c);
  if (method !== 'GET' && method !== 'HEAD') return;
  if (conditions.ifMatch === undefined && conditions.ifNoneMatch === undefined) return;
  const tag = c.res.headers.get('ETag');
  if (tag === null || c.res.status !== 200) return;
  if (!isRequiredTag(tag, conditions)) throw new Rejection(412, 'the object has another version than If-Match requires');
  if (isExcludedTag(tag, conditions)) c.res = new Response(null, { status: 304, headers: { ETag: tag } });
};
