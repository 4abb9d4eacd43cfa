/**
 * Whether a form asks for something that must not be typed into a conversation: passwords, tokens, card numbers (MCP
 * 2025-11-25, elicitation: "servers MUST NOT use form mode to request sensitive information"). Decided by words, also if
 * they are written with letters that only look alike; a form that hides its purpose is not detected.
 */
import type { ElicitationRequest } from '../elicitation.ts';
import type { Field } from './field.ts';
import { fieldsOf } from './requested-schema.ts';

/** Words for secrets, without separators: `api_key`, `apiKey` and "API key" are equal. */
const secretWords = [
  'passw(or)?d',
  'pwd',
  'passphrase',
  'passcode',
  'secret(?!ary)',
  'apikey',
  'privatekey',
  'accesskey',
  'token$',
  'credential',
  'pin(code|number)',
  '(security|verification|authentication|onetime|2fa|mfa|sms)code',
  '^otp$',
  'cvv|cvc',
  '(card|creditcard|debitcard|iban|account)number',
  '^iban$',
  '(social|national)(security|insurance)(number|no)',
  '^ssn$',
  'seedphrase',
  'recovery(code|phrase|key)',
];

/** Passwords, PINs and keys in other languages, as people write them. `^` and `$` are the ends of a name. */
const otherWords = {
  arabic: ['كلمة السر', 'كلمة المرور', 'الرقم السري', 'رمز المرور', 'رمز التحقق'],
  bengali: ['পাসওয়ার্ড'],
  chinese: [
    '密码',
    '密碼',
    '口令',
    '验证码',
    '驗證碼',
    '密钥',
    '密鑰',
    '私钥',
    '私鑰',
    '令牌$',
    '卡号',
    '卡號',
  ],
  cyrillic: ['парол', 'пинкод', 'лозинка', 'секретный ключ', 'код из смс', 'номер карты'],
  czech: ['^heslo', 'nové heslo'],
  danish: ['adgangskode'],
  dutch: ['wachtwoord'],
  finnish: ['salasana'],
  french: ['mot de passe', 'code secret', 'code de vérification', 'numéro de carte'],
  georgian: ['პაროლი'],
  german: ['passwort', 'kennwort', 'geheimzahl', 'sicherheitscode', 'kartennummer'],
  greek: ['κωδικός πρόσβασης', 'συνθηματικό'],
  hebrew: ['סיסמה', 'סיסמא'],
  hindi: ['पासवर्ड', 'कूटशब्द'],
  hungarian: ['jelszó'],
  indonesian: ['kata sandi'],
  italian: ["parola d'ordine", 'codice di verifica', 'numero di carta'],
  japanese: ['パスワード', 'ぱすわーど', 'パスフレーズ', '暗証番号', '認証コード', '秘密鍵', 'カード番号'],
  korean: ['비밀번호', '패스워드', '^암호$', '인증번호', '인증 코드', '비밀키', '카드 번호'],
  norwegian: ['^passord$', 'nytt passord'],
  persian: ['رمز عبور', 'گذرواژه', 'کلمه عبور'],
  polish: ['^hasło$', 'nowe hasło'],
  portuguese: ['^senha', 'palavra-passe', 'código de segurança', 'código de verificação', 'número do cartão'],
  romanian: ['^parola$', 'parola noua'],
  spanish: [
    'contraseña',
    'clave secreta',
    'código de seguridad',
    'código de verificación',
    'número de tarjeta',
  ],
  swedish: ['lösenord'],
  tamil: ['கடவுச்சொல்'],
  thai: ['รหัสผ่าน'],
  turkish: ['şifre'],
  urdu: ['پاس ورڈ'],
  vietnamese: ['mật khẩu'],
};

/** The name of the first field that asks for a secret, or null. */
export function secretField(fields: Field[], requestedSchema: Record<string, unknown>): string | null {
  return secretFields(fields, requestedSchema)[0] ?? null;
}

/** The names of all fields that ask for a secret, by their words or their schema. */
export function secretFields(fields: Field[], requestedSchema: Record<string, unknown>): string[] {
  const properties = (requestedSchema['properties'] ?? {}) as Record<
    string,
    { format?: unknown; writeOnly?: unknown }
  >;
  const found = fields.filter(({ name, title, kind }) => {
    // Yes-or-no fields and choices reveal nothing.
    if (kind !== 'text' && kind !== 'number') return false;
    const { format, writeOnly } = properties[name] ?? {};
    return format === 'password' || writeOnly === true || [name, title].some(isSecretName);
  });
  return found.map(({ name }) => name);
}

/** Whether a question asks for a secret, in its fields or its message: no model and no conversation may see the answer. */
export function wantsSecret(question: ElicitationRequest): boolean {
  if (question.mode === 'url') return false;
  const fields = fieldsOf(question.requestedSchema);
  if (secretField(fields, question.requestedSchema) !== null) return true;
  const isTyped = fields.some(({ kind }) => kind === 'text' || kind === 'number');
  return isTyped && asksForSecret(question.message);
}

const request = /\b(what is|what's|what are|enter|type|give|provide|tell|send|share|need)\b/i;
const secret =
  /\b(password|passphrase|passcode|pin code|api[ -]?key|secret key|private key|access token|card number|cvv|cvc|security code|one-time code|seed phrase)\b/i;

/** Whether a sentence of the message asks for a secret: "What is your GitHub password?". */
export function asksForSecret(message: string): boolean {
  return asLatin(message)
    .split(/[.?!\n]/)
    .some((sentence) => request.test(sentence) && secret.test(sentence));
}

export function isSecretName(name: string): boolean {
  // Greek capitals and small letters look like different Latin ones.
  return [name, name.toLowerCase()].map(joinedLatin).some(
    // Without letter shapes: with them, "pln" (the currency) would match.
    (joined) => joined === 'pin' || secretPatterns.some((pattern) => pattern.test(joined)),
  );
}

/**
 * Letters that look like Latin ones: a field “Pаsswоrd” with two Cyrillic letters asks for a password. From Unicode's
 * list (UTS 39, confusables), without those that lower case or normalisation makes Latin, and Latin ones as small capitals or
 * with strokes and hooks.
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
/** Capitals whose small letters look like other letters. */
const capitals = new Map([
  ['Ν', 'n'],
  ['Υ', 'y'],
]);

/** Where alphabets of pictures begin that normalisation does not change: white on black circles, on squares, and flags. */
const pictures = [0x1f150, 0x1f170, 0x1f1e6];

/** The text in lower-case Latin letters where it can be, without accents, invisible characters and Arabic lengthening. */
function asLatin(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(/[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\u0640]/gu, '');
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

function joinedLatin(text: string): string {
  return asLatin(text).replaceAll(/[^\p{L}\p{N}@$]+/gu, '');
}

/** How letters may be disguised. */
const shapes: Record<string, string> = {
  a: '[a4@]',
  e: '[e3]',
  i: '[il1]',
  l: '[il1]',
  o: '[o0]',
  s: '[s5$]',
  w: '(?:w|vv)',
};

const secretPatterns = [
  ...secretWords,
  ...Object.values(otherWords)
    .flat()
    .map((word) => {
      const [begin, end] = [word.startsWith('^') ? '^' : '', word.endsWith('$') ? '$' : ''];
      return begin + joinedLatin(word.replace('$', '')) + end;
    }),
].map((word) => new RegExp(word.replaceAll(/[aeilosw]/g, (letter) => shapes[letter] ?? letter)));
