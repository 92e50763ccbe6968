// What examples/demo-pr.js plays with.
export { start } from './cli.ts';
export { startGitHub } from './github.ts';
export { playPullRequests } from './pull-request-story.ts';
export { openRunner } from './workflow.ts';
