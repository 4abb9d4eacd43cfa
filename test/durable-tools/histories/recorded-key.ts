/** What recorded histories of tools are sealed with. Nothing else is. */
export const recordedKey = `recorded:${Buffer.alloc(32, 'of recorded histories').toString('base64')}`;
