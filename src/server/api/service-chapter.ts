import { exactly, refer, type Chapter } from './operation.ts';

/** Tells of the service itself. */
export const serviceChapter: Chapter = {
  name: 'Service',
  description: 'The gateway about itself; the interface shows none of it.',
  schemas: {
    Health: exactly({ status: { const: 'ok' } }),
    ServerInfo: exactly({
      name: { const: 'ostiary' },
      version: { type: 'string' },
      role: { enum: ['admin'], description: 'The role of the key that asks.' },
      organisation: { type: 'string' },
    }),
  },
  operations: [
    {
      method: 'get',
      path: '/serverinfo',
      id: 'readServerInfo',
      summary: 'Tell which gateway this is',
      answers: { 200: { description: 'Name, version, and the role of the key.', schema: refer('ServerInfo') } },
    },
    {
      method: 'get',
      path: '/healthz',
      id: 'readHealth',
      summary: 'Tell whether the gateway works',
      open: true,
      answers: { 200: { description: 'The database answers.', schema: refer('Health') } },
    },
    {
      method: 'get',
      path: '/openapi.json',
      id: 'readDocument',
      summary: 'Describe all operations',
      open: true,
      answers: { 200: { description: 'This document: OpenAPI 3.1.', schema: { type: 'object' } } },
    },
    {
      method: 'get',
      path: '/docs',
      id: 'readPage',
      summary: 'Describe all operations for people',
      open: true,
      answers: {
        200: { description: 'A page without scripts or assets from elsewhere.', schema: { type: 'string' }, html: true },
      },
    },
  ],
};
