/**
 * Letters that look like Latin ones, read as these: a field that is called “Pаsswоrd” with two Cyrillic letters asks for a
 * password. The letters are those that Unicode lists (UTS 39, confusables) and that neither lower case nor normalisation
 * makes Latin. Pure.
 */
const lookAlikes: Record<string, string> = {
  a: 'ɑαаᗅꓮꭺ𐊠𖽀',
  b: 'ƅβвьᏼᑲᖯᗷꓐꞵꮟ𐊂𐊡𐌁',
  c: 'ςсᴄⲥꓚꮯ𐊢𐌂𐐽𐔜',
  d: 'ԁᑯᗞᗪꓒꓓꭰꮷ',
  e: 'εеҽⴹꓰꬲꭼ𐊆𑣆𑣎',
  f: 'ϝքᖴẝꓝꞙꬵ𐊇𐊥𐔥𑣂',
  g: 'ƍɡԍցᏻᶃꓖꮐ',
  h: 'ηнһհᕼⲏꓧꮋꮒ𐋏',
  i: 'ıɩɪιіӏꙇꭵ𑣃',
  j: 'ʝϳјᒍꓙꭻ',
  k: 'κкᛕⲕꓗꮶ𐔘',
  l: 'ǀᒪᛁⲓⳑⵏꓡꓲꮮ𐊊𐌉𐑃𐔦𑣒𖼖𖼨',
  m: 'μϻмᗰᛖⲙꓟꮇ𐊰𐌑',
  n: 'ոռⲛꓠ𐔓',
  o: 'οσоօଠഠဝჿዐᴏᴑⲟⵔꓳꬽ𐊒𐊫𐐬𐓪𐔖𑣈𑣕𑣗',
  p: 'ρрᑭⲣꓑꮲ𐊕',
  q: 'ԛգզⵕ',
  r: 'ʀгᖇᴦⲅꓣꭇꭈꭱꮁꮢ𐓜𖼵',
  s: 'ƽѕտꓢꜱꮥꮪ𐊖𐑈𑣁𖼺',
  t: 'τтⲧꓔꭲ𐊗𐊱𐌕𖼊',
  u: 'ʋυսሀᑌᴜꓴꞟꭎꭒ𐓶𑣘𖽂',
  v: 'νѵᐯᴠⴸꓦꛟꮩ𐔝𑜆𑣀𖼈',
  w: 'ɯѡԝաᴡꓪꮃꮤ𑜊𑜎𑜏',
  x: 'χхᕁᕽᚷⲭⵝꓫꭓ𐊐𐊴𐌗𐔧',
  y: 'ɣʏγуүყᶌỿⲩꓬꭚꭹꮍ𐊲𑣜𖽃',
  z: 'ζᴢꓜꮓ𑣄𑣉',
};

const latin = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) =>
    Array.from(others, (other): [string, string] => [other, letter]),
  ),
);
/** Capitals whose small letters look like another one. */
const capitals = new Map([
  ['Ν', 'n'],
  ['Υ', 'y'],
]);

/** In lower case, without accents and without what nobody sees. */
export function asLatin(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(/[\p{M}\p{Cf}]/gu, '');
  return Array.from(bare, (character) => {
    const small = character.toLowerCase();
    return capitals.get(character) ?? latin.get(small) ?? small;
  }).join('');
}
