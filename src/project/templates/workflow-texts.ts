// Generated from examples/github and examples/gitlab by `npm run generate`; do not edit.
/** The example workflows of GitHub by their names. */
export const workflowTexts: Readonly<Record<string, string>> = {
  validate: `# Checks the manifests of every pull request, forks included: no gateway, no secret.
name: access validate

on:
  pull_request:
    branches: [main]
    # If this check is required, leave the paths out: GitHub waits forever for a required check that a path filter leaves out.
    paths: ['access/**', 'overlays/**', 'certs/**', 'ostiary.yaml']
  merge_group: # for repositories with a merge queue; it has no path filter

permissions: {}

concurrency:
  group: access-validate-\${{ github.event.pull_request.number || github.ref }}
  cancel-in-progress: true

jobs:
  validate:
    name: Validate
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read # for the checkout
      security-events: write # for the findings; without code scanning leave it out, with the upload
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      # acme/ostiary and the zeros are filled in where this file is part of a release: ostiary-examples-VERSION.tar.gz.
      - uses: acme/ostiary@0000000000000000000000000000000000000000 # v0.1.0
        with:
          mode: validate
          sarif: ostiary.sarif
      # A fork's token may not upload.
      - uses: github/codeql-action/upload-sarif@181d5eefc20863364f96762470ba6f862bdef56b # v3.29.2
        if: \${{ !cancelled() && !github.event.pull_request.head.repo.fork }}
        with:
          sarif_file: ostiary.sarif
          category: ostiary
`,
  plan: `# Shows on every pull request what its merge would change on the gateway, in one comment that follows it.
name: access plan

on:
  pull_request:
    branches: [main]
    # If this check is required, leave the paths out: GitHub waits forever for a required check that a path filter leaves out.
    paths: ['access/**', 'overlays/**', 'certs/**', 'ostiary.yaml']
  merge_group: # for repositories with a merge queue; it has no path filter

permissions: {}

concurrency:
  group: access-plan-\${{ github.event.pull_request.number || github.ref }}
  cancel-in-progress: true

jobs:
  plan:
    name: Plan
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    # Holds a key that may read the gateway (role auditor), and needs no approval.
    environment: access-plan
    permissions:
      contents: read # for the checkout and for what was last applied
      pull-requests: write # for the comment
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      # acme/ostiary and the zeros are filled in where this file is part of a release: ostiary-examples-VERSION.tar.gz.
      - uses: acme/ostiary@0000000000000000000000000000000000000000 # v0.1.0
        with:
          mode: plan
          overrides: true # comments of people with write access count
        env:
          OSTIARY_TOKEN: \${{ secrets.OSTIARY_TOKEN }} # all that is needed: the sources of secrets are compared, not read
`,
  apply: `# Applies the merged manifests, and comments on the merged pull request with the outcome.
name: access apply

on:
  push:
    branches: [main]
    paths: ['access/**', 'overlays/**', 'certs/**', 'ostiary.yaml']
  workflow_dispatch:

permissions: {}

# One at a time for one target. A run that waits makes room for a newer one, which applies what it would have; a run that
# writes is never stopped.
concurrency:
  group: access-apply-production
  cancel-in-progress: false

jobs:
  apply:
    name: Apply
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    # Protected: branch main alone, reviewers if wanted. Holds a key that may write (role admin).
    environment: production
    permissions:
      contents: write # records what was applied, as the ref refs/ostiary/applied/production
      pull-requests: write # for the outcome on the merged pull request
      deployments: write # for the deployment's status
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      # acme/ostiary and the zeros are filled in where this file is part of a release: ostiary-examples-VERSION.tar.gz.
      - id: apply
        uses: acme/ostiary@0000000000000000000000000000000000000000 # v0.1.0
        with:
          mode: apply
          cache: true # the default: verified secrets are not read again
          journal: journal.jsonl
        env:
          OSTIARY_TOKEN: \${{ secrets.OSTIARY_TOKEN }}
          OSTIARY_RECORD_KEY: \${{ secrets.OSTIARY_RECORD_KEY }} # recommended: ostiary record key; signs the record of applies
          OSTIARY_SECRET_ORDERS: \${{ secrets.OSTIARY_SECRET_ORDERS }}
      - uses: actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0
        if: \${{ !cancelled() }}
        with:
          name: journal
          path: journal.jsonl
          if-no-files-found: ignore
`,
  drift: `# Reports drift every morning in one issue, which is closed when the drift is gone, and keeps a pull request ready that
# adopts it.
name: access drift

on:
  schedule:
    - cron: '17 5 * * *'
  workflow_dispatch:
    inputs:
      revert:
        description: Revert all drift, held drift included
        type: boolean
        default: false

permissions: {}

concurrency:
  group: access-drift-production
  cancel-in-progress: false

jobs:
  drift:
    name: Drift
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    # access-plan holds a key that may read the gateway (role auditor), and needs no approval. A revert needs the one that may write.
    environment: \${{ inputs.revert && 'production' || 'access-plan' }}
    permissions:
      contents: write # for the branch ostiary/adopt/production
      issues: write # for the issue
      pull-requests: write # for the pull request
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      # acme/ostiary and the zeros are filled in where this file is part of a release: ostiary-examples-VERSION.tar.gz.
      - uses: acme/ostiary@0000000000000000000000000000000000000000 # v0.1.0
        with:
          mode: drift
          cache: true # the default: verified secrets are not read again
          adopt: \${{ !inputs.revert }}
          revert: \${{ inputs.revert || '' }}
          # The key of access-plan sees no value of a secret, so none is needed; with one that does, leave this out and give the values.
          secrets: \${{ !inputs.revert && 'unresolved' || '' }}
        env:
          OSTIARY_TOKEN: \${{ secrets.OSTIARY_TOKEN }}
          OSTIARY_RECORD_KEY: \${{ secrets.OSTIARY_RECORD_KEY }} # of the environment production
          OSTIARY_SECRET_ORDERS: \${{ secrets.OSTIARY_SECRET_ORDERS }}
`,
};

/** The example pipeline of GitLab. */
export const pipelineText = `# Validates merge requests, shows their plan in a note, applies each merge, and looks for drift on a schedule. Copy this file to the top of
# your repository, and protect the default branch.
#
# Settings > CI/CD > Variables, all masked and protected: the author of a merge request controls this file in its pipelines, and so reads every
# variable that is not protected.
#   OSTIARY_TOKEN         the key for the gateway: role auditor for the environment access-plan; role admin for the environment production
#   OSTIARY_GITLAB_TOKEN  a project access token with the role Developer and the scope api, for notes, issues, the branch that accepts drift, and
#                         the record of what was applied
#   OSTIARY_RECORD_KEY    recommended: the private half of a record key (ostiary record key), for the environment production. The apply signs its
#                         record, so that people with push rights cannot forge it. The public half is for ostiary.yaml
# Secrets that the manifests take from the environment are variables of the environment production.
#
# Settings > CI/CD > Pipeline trigger tokens: create one. Settings > Webhooks: add the URL below for merge request events. It starts the job plan
# with the file of the default branch, which the author of a merge request does not control.
#   https://gitlab.example.com/api/v4/projects/PROJECT_ID/ref/main/trigger/pipeline?token=TRIGGER_TOKEN

default:
  image: node:24
  before_script:
    # acme/ostiary and the zeros are filled in where this file is part of a release: ostiary-examples-VERSION.tar.gz.
    - curl --fail --silent --show-error --location --remote-name https://github.com/acme/ostiary/releases/download/v0.1.0/ostiary-0.1.0.tgz
    - echo "0000000000000000000000000000000000000000000000000000000000000000  ostiary-0.1.0.tgz" | sha256sum --check --quiet
    - npm install --global --ignore-scripts ./ostiary-0.1.0.tgz

validate:
  interruptible: true
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - ostiary validate --report junit=validate.xml --report codequality=code-quality.json
  artifacts:
    when: always
    reports:
      junit: validate.xml
      codequality: code-quality.json

plan:
  environment:
    name: access-plan
    action: access
  rules:
    - if: $CI_PIPELINE_SOURCE == "trigger" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    # The merge request of the event. Ostiary takes targets, limits and policies from the default branch.
    - request="$(node -p 'Number(JSON.parse(fs.readFileSync(process.env.TRIGGER_PAYLOAD, "utf8")).object_attributes.iid)')"
    - git fetch --quiet origin "refs/merge-requests/$request/head"
    - git checkout --quiet --detach FETCH_HEAD
    - ostiary ci plan --status --report markdown=plan.md --report html=plan.html
  artifacts:
    when: always
    paths: [plan.html, plan.md]

apply:
  # One at a time, and never stopped while it writes.
  resource_group: access-apply-production
  interruptible: false
  # What was verified, encrypted with the key of the gateway: the next pipeline reads only secrets that changed.
  cache:
    key: ostiary-production
    paths: [.ostiary/]
  environment:
    name: production
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    # --digest comment applies only the plan that the note of the merge request showed.
    - ostiary ci apply --journal journal.jsonl --report markdown=apply.md --report html=apply.html
  artifacts:
    when: always
    paths: [apply.html, apply.md, journal.jsonl]

drift:
  environment:
    name: access-plan
    action: access
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    # An issue reports the drift, and a merge request accepts it.
    - ostiary ci drift --adopt --secrets unresolved --report markdown=drift.md
  artifacts:
    when: always
    paths: [drift.md]
`;
