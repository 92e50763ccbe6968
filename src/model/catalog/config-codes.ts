/** The messages of the section "Config". */
export const configCodes = {
  'config/after-merge': {
    level: 'warning',
    meaning: 'A pull request changes the settings that its own checks use',
    cause: 'The config differs from that of the target branch',
    fix: 'Nothing: the change applies after the merge',
    example: 'the pull request changes limits',
  },
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
    example: 'the config file ../ostiary.yaml belongs to another user',
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
    example: 'the config file infra.yaml cannot be read: no such file',
  },
  'config/not-utf8': {
    meaning: 'The config file is not UTF-8',
    cause: 'It was saved in another encoding',
    fix: 'Save it as UTF-8',
    example: '"ostiary.yaml" is not UTF-8',
  },
  'config/one-document': {
    meaning: 'The config file has more than one document',
    cause: 'Manifests are in the config file',
    fix: 'Keep only the Config document; put manifests in other files',
    example: 'the config file has more than one document',
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
    example: '"ostiary.yaml" is larger than 1 MiB',
  },
  'config/unreadable': {
    meaning: 'The config file cannot be read',
    cause: 'The permissions do not allow it',
    fix: 'Check its permissions',
    example: '"ostiary.yaml" cannot be read: permission denied',
  },
} as const;
