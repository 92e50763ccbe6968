/** The messages of the section "Command line and files". */
export const cliCodes = {
  'cache/cannot-write': {
    level: 'warning',
    meaning: 'Ostiary cannot write to the folder of `--cache`',
    cause: 'The folder is missing, read-only or full; the plan is correct, but the next one takes longer',
    fix: 'Check the path and permissions of the folder',
    example: 'the cache cannot be written to "cache": EACCES',
  },
  'cli/cache-folder': {
    meaning: 'The cache folder cannot be used safely',
    cause: 'The folder is a link, or belongs to another user',
    fix: 'Remove it, or check its owner',
    example: 'the folder ".ostiary" cannot be used: it belongs to another user',
  },
  'cli/disk': {
    meaning: 'A file cannot be read or written',
    cause: 'The disk is full, the file system is read-only, or permissions do not allow it',
    fix: 'Check the disk and the permissions',
    example: '"access/.ostiary" cannot be read or written: no space left on the disk',
  },
  'cli/output': {
    meaning: 'The result did not arrive where stdout leads',
    cause: 'Stdout is closed, or is the null device that another program opened for reading and writing; or its disk is full',
    fix: 'Write the result elsewhere; `> /dev/null` discards it. The command ran to its end',
    example: 'the result cannot be written: no space left on the disk',
  },
  'cli/unknown-group': {
    level: 'warning',
    meaning: 'Nothing that decides access names this group',
    cause: 'The name has a typo, or the group has only what everybody has',
    fix: 'Check the name; `ostiary can --matrix` lists the groups',
    example: 'nothing names the group "contractor"',
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
  'project/cannot-write': {
    meaning: '`pull`, `drift --adopt` or `fmt` cannot write a file',
    cause: 'The folder is read-only, the disk is full, or a link leads out of the project',
    fix: 'Check the folder and the disk, then run the command again; files that were written are kept',
    example: '"manifests/orders-db.yaml" cannot be written: permission denied',
  },
  'report/cannot-write': {
    meaning: 'Ostiary cannot write a file of `--report`',
    cause: 'The folder does not exist or is read-only; after an apply this is a warning',
    fix: 'Check that the folder exists',
    example: 'the report "reports/plan.md" cannot be written: no such file or directory',
  },
  'report/link': {
    meaning: 'A file would be written through a symbolic link',
    cause: 'The path of `--report`, `--out`, `--journal` or `--cache`, or a folder of it below the working folder, is a symbolic link',
    fix: 'Remove the link, or pass the path of its target',
    example: '"plan.json" is a symbolic link, and Ostiary writes through none',
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

/** The messages of the section "Config". */
export const configCodes = {
  'config/bad-url': {
    meaning: 'The URL of a target is invalid',
    cause: 'It is not an `http` or `https` URL with a host',
    fix: 'Write `http://` or `https://`, a host and an optional path',
    example: 'invalid URL "gateway.example.com"',
  },
  'config/credentials-in-url': {
    meaning: 'The URL of a target contains a user or a password',
    cause: 'Credentials are written into the config',
    fix: 'Remove them, and set `token: { env: OSTIARY_TOKEN }`',
    example: 'the URL contains credentials',
  },
  'config/foreign-owner': {
    meaning: 'The nearest config file belongs to another user',
    cause:
      'Ostiary does not trust a config of another user unless you name it; it is a warning if a flag or variable already names the gateway',
    fix: 'Pass `--config FILE` to use it',
    example: 'the config file belongs to another user (id 1001) and is ignored',
  },
  'config/incomplete-tls': {
    meaning: 'A client certificate without its key, or a key without its certificate',
    cause: 'Only one of the two fields is set',
    fix: 'Set `client_certificate` and `client_key`',
    example: 'client_certificate needs client_key',
  },
  'config/insecure-url': {
    level: 'warning',
    meaning: 'The token travels unencrypted',
    cause: 'The URL begins with `http://` and is not on this machine',
    fix: 'Use `https://`',
    example: 'the token travels unencrypted to gateway.example.com',
  },
  'config/not-found': {
    meaning: 'The file of `--config` cannot be read',
    cause: 'The path is wrong',
    fix: 'Check the path',
    example: 'the config file "infra.yaml" cannot be read: it does not exist',
  },
  'config/not-utf8': {
    meaning: 'The config file is not UTF-8',
    cause: 'It was saved in another encoding',
    fix: 'Save it as UTF-8',
    example: 'the config file "ostiary.yaml" cannot be read: byte 3 is not valid UTF-8',
  },
  'config/one-document': {
    meaning: 'The config file has more than one document',
    cause: 'Manifests are in the config file',
    fix: 'Keep only the Config document; put manifests in other files',
    example: 'the config file has more than one document',
  },
  'config/other-checkout': {
    meaning: 'The config file, or a folder that it lists, is in another checkout than the working directory or the config file',
    cause:
      'A job has two checkouts, for example the pull request in a folder of its own, or a submodule; what is known about one commit says nothing about the other',
    fix: 'Run in the folder of the config file; in a workflow, set `working-directory`; for listed folders, commit the manifests to the same repository, or add a submodule',
    example: 'the config file pr/ostiary.yaml is in the checkout /srv/access/pr, and the working directory is in the checkout /srv/access',
  },
  'config/path-outside': {
    meaning: 'A path is outside the folder of the config file',
    cause: 'It is absolute, or contains `..`',
    fix: 'Use a path below the folder, with `/`',
    example: '"../other" is outside the folder of the config file (manifests[0])',
  },
  'config/too-large': {
    meaning: 'The config file is larger than 1 MiB',
    cause: 'It is probably another file',
    fix: 'Check the path',
    example: 'the config file "ostiary.yaml" cannot be read: it is larger than 1 MiB',
  },
  'config/unreadable': {
    meaning: 'The config file cannot be read',
    cause: 'The permissions do not allow it',
    fix: 'Check its permissions',
    example: 'the config file "ostiary.yaml" cannot be read: permission denied',
  },
} as const;

/** The messages of the section "Serving". */
export const serveCodes = {
  'serve/agent': {
    meaning: 'The name of an agent is invalid',
    cause: 'It is empty, too long, or has characters that are not allowed',
    fix: 'Use another `--agent`',
    example: 'the agent name "" is empty',
  },
  'serve/audit-broken': {
    meaning: 'The audit log is broken',
    cause: 'An entry was changed or removed, or the log does not contain the given hash',
    fix: 'Compare the log with a backup, from the named entry on',
    example: 'the audit log is broken at entry 42 (9a8b): it was changed, or an entry before it was added or removed',
  },
  'serve/audit-keep': {
    meaning: 'The server cannot delete audit entries',
    cause: 'Its database role does not have the right',
    fix: 'Remove `--audit-keep`, and run daily as the owner of the tables: `ostiary serve --migrate --audit-keep DAYS`',
    example: 'the database role of this server cannot delete audit entries',
  },
  'serve/database': {
    meaning: 'The database cannot be opened',
    cause: 'The address, user or folder is wrong; the message gives the reason',
    fix: 'Check that it exists and that this user has access',
    example: 'the database cannot be opened: connection refused',
  },
  'serve/database-damaged': {
    meaning: 'A table of the database is damaged',
    cause: 'The disk failed, or files were changed',
    fix: 'Restore the whole folder from a backup',
    example: 'the table connections is damaged: unexpected end of file',
  },
  'serve/database-missing': {
    meaning: 'The database is missing or incomplete',
    cause: 'Parts of its folder were removed',
    fix: 'Restore the whole folder from a backup; for a new gateway, use an empty folder',
    example: 'the database gateway/data is missing',
  },
  'serve/encryption-key': {
    meaning: 'The encryption key is malformed or wrong',
    cause: 'The database was encrypted with another key',
    fix: 'Start with that key, or set it in `OSTIARY_SERVE_ENCRYPTION_KEY_PREVIOUS`',
    example: 'the encryption key has 16 bytes, not 32',
  },
  'serve/folder-in-use': {
    meaning: 'The folder is not a database folder',
    cause: 'It contains other files',
    fix: 'Use an empty or new folder for `--database`',
    example: 'gateway is not a database folder: it contains "notes.txt"',
  },
  'serve/initialized': {
    meaning: 'The gateway already has an admin key',
    cause: '`--init` creates only the first key',
    fix: 'Create more keys with `POST /api-keys`',
    example: 'the gateway already has an admin key',
  },
  'serve/insecure-database': {
    level: 'warning',
    meaning: 'Data can travel unencrypted to PostgreSQL',
    cause:
      'The server is on another host, and nothing requires TLS: `sslmode` is missing, `disable`, `allow` or `prefer`. PGHOST and PGSSLMODE count, too',
    fix: 'End the URL with `?sslmode=verify-full`, or at least `?sslmode=require`',
    example: 'the data of the gateway can travel unencrypted to db.example.com: end the URL of the database with ?sslmode=verify-full',
  },
  'serve/key': {
    meaning: 'A key is empty, or both keys are the same',
    cause: 'A variable has a wrong value',
    fix: 'Set `OSTIARY_SERVE_KEY` and `OSTIARY_SERVE_MANAGER_KEY`',
    example: 'the manager key is empty, has no manager, or is the admin key',
  },
  'serve/locked': {
    meaning: 'Another process has the database folder open',
    cause: 'A server is still running',
    fix: 'Stop it, or use PostgreSQL',
    example: 'process 4711 has the database open (gateway/lock)',
  },
  'serve/migration': {
    meaning: 'The migration of the database failed',
    cause: 'The role does not own the tables, or a newer version wrote the database',
    fix: 'Follow the cause; run `ostiary serve --migrate` as the owner of the tables',
    example: 'the migration of the database failed',
  },
  'serve/no-embedded-database': {
    meaning: 'The embedded database is not installed',
    cause: 'The optional package is missing',
    fix: 'Install `@electric-sql/pglite` in the version of the hint, or use PostgreSQL',
    example: 'the embedded database is not installed',
  },
  'serve/no-encryption-key': {
    meaning: 'A PostgreSQL database needs an encryption key',
    cause: 'The variable is not set',
    fix: 'Set `OSTIARY_SERVE_ENCRYPTION_KEY` to the output of `openssl rand -base64 32`',
    example: 'a PostgreSQL database requires an encryption key',
  },
  'serve/no-key': {
    meaning: 'The gateway has no keys',
    cause: 'It is new',
    fix: 'Create the first key with `ostiary serve --init`, or set `OSTIARY_SERVE_KEY`',
    example: 'this gateway has no keys',
  },
  'serve/open-folder': {
    meaning: 'The database folder is not safe',
    cause: 'It belongs to another user, others can write to it, or it contains a link',
    fix: 'Follow the hint; check the content of the folder first',
    example: 'the database folder gateway can be written by other users',
  },
  'serve/port': {
    meaning: 'The server cannot listen on the address',
    cause: 'The port is in use, or the host is not an address of this machine',
    fix: 'Stop the other process, or use another `--port` or `--host`',
    example: 'cannot listen on 127.0.0.1:8009: the address is in use',
  },
  'serve/role': {
    meaning: 'The role of `--grant` cannot be used',
    cause: 'It does not exist, has the rights of the owner, or this user does not own the tables',
    fix: 'Follow the hint; create a separate role for the server',
    example: 'the role "app" does not exist',
  },
} as const;
