// The exports that examples/demo-pr.js uses.
export { start } from './cli.ts';
export { appAccount, startGitHub } from './github.ts';
export { playPullRequests } from './pull-request-story.ts';
export { openRunner } from './workflow.ts';
