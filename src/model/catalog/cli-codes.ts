/** The messages of the section "Command line and files". */
export const cliCodes = {
  'cache/cannot-write': {
    level: 'warning',
    meaning: 'Ostiary cannot write to the folder of `--cache`',
    cause: 'The folder is missing, read-only or full; the plan is correct, but the next one reads the secrets again',
    fix: 'Check the path and permissions of the folder',
    example: 'the cache of verified secrets cannot be written to "cache": EACCES',
  },
  'cli/cache-folder': {
    meaning: 'The cache folder cannot be used safely',
    cause: 'The folder is a link, or belongs to another user',
    fix: 'Remove it, or check its owner',
    example: 'the folder ".ostiary" cannot be used: it belongs to another user',
  },
  'cli/usage': {
    meaning: 'The command line is wrong, or a required flag, file or answer is missing',
    cause: 'A flag has a typo, or two flags contradict each other',
    fix: 'Read the hint; `ostiary COMMAND --help` lists the flags',
    example: '--target is required: the config has more than one target',
  },
  'cli/working-folder': {
    meaning: 'The working directory no longer exists',
    cause: 'The directory was removed while a shell was in it',
    fix: 'Change to another directory and run the command again',
    example: 'the working directory no longer exists',
  },
  'init/cannot-write': {
    meaning: '`init` or `serve` cannot write a file',
    cause: 'The folder is read-only, or the disk is full',
    fix: 'Check the permissions, or use another folder',
    example: '"ostiary.yaml" cannot be written: permission denied',
  },
  'input/invalid': {
    meaning: 'The input has errors',
    cause: 'The library throws an error with this code that contains the diagnostics; the command line never prints it',
    fix: 'Read the diagnostics of the error',
    example: 'the input is invalid',
  },
  'internal/error': {
    meaning: 'Ostiary failed unexpectedly',
    cause: 'A bug in Ostiary',
    fix: 'Report it with the stack trace',
    example: 'internal error',
  },
  'journal/cannot-write': {
    meaning: 'Ostiary cannot write to the file of `--journal`',
    cause: 'The folder is missing or read-only, or the disk is full',
    fix: 'Check the path and the disk; if the apply stopped in the middle, plan again',
    example: 'the journal "run.jsonl" cannot be written: no space left on device',
  },
  'pull/cannot-write': {
    meaning: '`pull` cannot write a file',
    cause: 'The folder is read-only, the disk is full, or a link leads out of the project',
    fix: 'Check the folder and the disk, then pull again; files that were written are kept',
    example: '"manifests/orders-db.yaml" cannot be written: permission denied',
  },
  'report/cannot-write': {
    meaning: 'Ostiary cannot write a file of `--report`',
    cause: 'The folder does not exist or is read-only; after an apply this is a warning',
    fix: 'Check that the folder exists',
    example: '"reports/plan.md" cannot be written: no such file or directory',
  },
  'report/link': {
    meaning: 'An output file would be written outside its folder',
    cause: 'The file of `--report`, `--out` or `--journal`, or its folder, is a symbolic link',
    fix: 'Remove the link, or pass the path of its target',
    example: 'the file "plan.json" is a symbolic link out of its folder',
  },
  'terraform/not-a-state': {
    meaning: 'The file of `--from-state` is not a usable Terraform state',
    cause: "It is not a state of version 4, or has no objects of the gateway's provider",
    fix: 'Pass the output of `terraform state pull`',
    example: 'the state cannot be used: it is not JSON',
  },
  'terraform/unreadable': {
    meaning: 'The file of `--from-state` cannot be read',
    cause: 'The path is wrong, or the permissions do not allow it',
    fix: 'Check the path and its permissions',
    example: 'the state "terraform.tfstate" cannot be read: no such file or directory',
  },
} as const;
