/**
 * Letters that look like Latin ones, read as these: a field that is called “Pаsswоrd” with two Cyrillic letters asks for a
 * password. The letters are those that Unicode lists (UTS 39, confusables) and that neither lower case nor normalisation
 * makes Latin, and Latin ones as small capitals or with strokes and hooks. Pure.
 */
const lookAlikes: Record<string, string> = {
  a: 'ⱥᴀɑαаᗅꓮꭺ𐊠𖽀',
  b: 'ƀɓʙƅβвьᏼᑲᖯᗷꓐꞵꮟ𐊂𐊡𐌁',
  c: 'ςсᴄⲥꓚꮯ𐊢𐌂𐐽𐔜',
  d: 'đɖɗᴅԁᑯᗞᗪꓒꓓꭰꮷ',
  e: 'ɇᴇεеҽⴹꓰꬲꭼ𐊆𑣆𑣎',
  f: 'ƒϝքᖴẝꓝꞙꬵ𐊇𐊥𐔥𑣂',
  g: 'ɢǥɠƍɡԍցᏻᶃꓖꮐ',
  h: 'ʜħɦηнһհᕼⲏꓧꮋꮒ𐋏',
  i: 'ɨıɩɪιіӏꙇꭵ𑣃',
  j: 'ᴊɉʝϳјᒍꓙꭻ',
  k: 'ᴋƙκкᛕⲕꓗꮶ𐔘',
  l: 'ʟłƚǀᒪᛁⲓⳑⵏꓡꓲꮮ𐊊𐌉𐑃𐔦𑣒𖼖𖼨',
  m: 'ᴍμϻмᗰᛖⲙꓟꮇ𐊰𐌑',
  n: 'ɴɲƞոռⲛꓠ𐔓',
  o: 'øɵοσоօଠഠဝჿዐᴏᴑⲟⵔꓳꬽ𐊒𐊫𐐬𐓪𐔖𑣈𑣕𑣗',
  p: 'ᴘᵽƥρрᑭⲣꓑꮲ𐊕',
  q: 'ԛգզⵕ',
  r: 'ɍɾʀгᖇᴦⲅꓣꭇꭈꭱꮁꮢ𐓜𖼵',
  s: 'ʂƽѕտꓢꜱꮥꮪ𐊖𐑈𑣁𖼺',
  t: 'ᴛŧƭτтⲧꓔꭲ𐊗𐊱𐌕𖼊',
  u: 'ʉʋυսሀᑌᴜꓴꞟꭎꭒ𐓶𑣘𖽂',
  v: 'νѵᐯᴠⴸꓦꛟꮩ𐔝𑜆𑣀𖼈',
  w: 'ωⱳɯѡԝաᴡꓪꮃꮤ𑜊𑜎𑜏',
  x: 'χхᕁᕽᚷⲭⵝꓫꭓ𐊐𐊴𐌗𐔧',
  y: 'ɏƴɣʏγуүყᶌỿⲩꓬꭚꭹꮍ𐊲𑣜𖽃',
  z: 'ƶζᴢꓜꮓ𑣄𑣉',
};

const latin = new Map([
  ['ß', 'ss'],
  ...Object.entries(lookAlikes).flatMap(([letter, others]) =>
    Array.from(others, (other): [string, string] => [other, letter]),
  ),
]);
/** Capitals whose small letters look like another one. */
const capitals = new Map([
  ['Ν', 'n'],
  ['Υ', 'y'],
]);

/** Where alphabets of pictures begin, which normalisation leaves: white on black circles, on squares, and flags. */
const pictures = [0x1f150, 0x1f170, 0x1f1e6];

/** In lower case, without accents and invisible characters. */
export function asLatin(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return Array.from(bare, (character) => {
    const small = character.toLowerCase();
    return capitals.get(character) ?? latin.get(small) ?? pictured(character) ?? small;
  }).join('');
}

function pictured(character: string): string | undefined {
  const code = character.codePointAt(0) ?? 0;
  const first = pictures.find((begin) => code >= begin && code < begin + 26);
  return first === undefined ? undefined : String.fromCharCode(97 + code - first);
}
