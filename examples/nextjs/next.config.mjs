export default {
  // Where this app ends; a lockfile in a folder above says something else.
  turbopack: { root: import.meta.dirname },
};
