import { exactObject, schemaRef, type ApiSection } from './api-section.ts';

/** Describes the service itself. */
export const serviceSection: ApiSection = {
  name: 'Service',
  description: 'The gateway about itself; the interface shows none of it.',
  schemas: {
    Health: exactObject({ status: { const: 'ok' } }),
    Unavailable: exactObject({ status: { const: 'unavailable' }, message: { type: 'string' } }),
    ServerInfo: exactObject({
      name: { const: 'ostiary' },
      version: { type: 'string' },
      role: { enum: ['admin', 'auditor', 'standard'], description: 'The role of the key that asks.' },
      organisation: { type: 'string' },
      borrowed_fields: {
        type: 'array',
        items: { type: 'string' },
        description: 'Fields that the interface does not have, and this gateway does: the kind, a dot, and the name.',
      },
    }),
  },
  operations: [
    {
      method: 'get',
      path: '/serverinfo',
      id: 'readServerInfo',
      summary: 'Tell which gateway this is',
      responses: { 200: { description: 'Name, version, and the role of the key.', schema: schemaRef('ServerInfo') } },
    },
    {
      method: 'get',
      path: '/healthz',
      id: 'readHealth',
      summary: 'Tell whether the gateway lives',
      description: 'It asks nothing of the database.',
      isPublic: true,
      responses: { 200: { description: 'The process lives.', schema: schemaRef('Health') } },
    },
    {
      method: 'get',
      path: '/readyz',
      id: 'readReadiness',
      summary: 'Tell whether the gateway can serve',
      isPublic: true,
      responses: {
        200: { description: 'The database answers within two seconds, and is of this version.', schema: schemaRef('Health') },
        503: { description: 'It does not, or the server is stopping.', schema: schemaRef('Unavailable') },
      },
    },
    {
      method: 'get',
      path: '/openapi.json',
      id: 'readDocument',
      summary: 'Describe all operations',
      isPublic: true,
      responses: { 200: { description: 'This document: OpenAPI 3.1.', schema: { type: 'object' } } },
    },
    {
      method: 'get',
      path: '/docs',
      id: 'readPage',
      summary: 'Describe all operations for people',
      isPublic: true,
      responses: {
        200: { description: 'A page without scripts or assets from elsewhere.', schema: { type: 'string' }, isHtml: true },
      },
    },
  ],
};
