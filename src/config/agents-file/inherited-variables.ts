/** Variables of ours that every program we start gets: hardly one works, or reaches anything, without them. */
const basics = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

const onWindows = ['PATHEXT', 'SYSTEMROOT', 'COMSPEC', 'TEMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'];

/** Where the way out leads over a proxy, or a company signs its certificates itself. A proxy's address may hold a password. */
const network = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY']
  .flatMap((name) => [name, name.toLowerCase()])
  .concat([
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'NODE_EXTRA_CA_CERTS',
    'NODE_USE_SYSTEM_CA',
    'NODE_USE_ENV_PROXY',
  ])
  .concat(['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']);

/** What is true of the worker's user only: a program that runs as another gets none of it. */
export const variablesOfUser = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR'];

export const inheritedVariables = [...basics, ...onWindows, ...network];
