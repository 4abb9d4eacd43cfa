import { expect, test } from 'vitest';
import { readRequestedSchema } from '../../src/elicitation/form/requested-schema.ts';
import { asksForSecret, secretField } from '../../src/elicitation/form/secret-fields.ts';

function secretIn(properties: Record<string, Record<string, unknown>>): string | null {
  const schema = { type: 'object', properties };
  const form = readRequestedSchema(schema);
  if (form.kind === 'unsupported') throw new Error(form.reason);
  return secretField(form.fields, schema);
}

test.each([
  'password',
  'passwd',
  'user_password',
  'newPassword',
  'api_key',
  'API key',
  'apiKey',
  'client-secret',
  'token',
  'access_token',
  'githubToken',
  'pin',
  'PIN code',
  'otp',
  'verificationCode',
  'cvv',
  'Card number',
  'credit_card_number',
  'iban',
  'ssn',
  'private_key',
  'recovery phrase',
  'Passwort',
  'pwd',
  'Authentication code',
  'Contraseña',
  'Mot de passe',
  'Senha',
  'Wachtwoord',
])('%s is a secret, as a name and as a title', (name) => {
  expect(secretIn({ city: { type: 'string' }, [name]: { type: 'string' } })).toBe(name);
  expect(secretIn({ x: { type: 'string', title: name } })).toBe('x');
});

/** As servers of other countries name the field. */
test.each([
  'Пароль',
  'Новый пароль',
  'Лозинка',
  'ПИН-код',
  '密码',
  '請輸入密碼',
  '验证码',
  'パスワード',
  'ﾊﾟｽﾜｰﾄﾞ',
  '新しいパスワード',
  '暗証番号',
  '비밀번호',
  '새 비밀번호',
  '암호',
  'كلمة السر',
  'كلـمة المـرور',
  'رمز عبور',
  'پاس ورڈ',
  'סיסמה',
  'पासवर्ड',
  'পাসওয়ার্ড',
  'கடவுச்சொல்',
  'รหัสผ่าน',
  'პაროლი',
  'Κωδικός πρόσβασης',
  'ΣΥΝΘΗΜΑΤΙΚΌ',
  'Mật khẩu',
  'Kata sandi',
  'Şifre',
  'Hasło',
  'Jelszó',
  'Heslo',
  'Nové heslo',
  'Lösenord',
  'Passord',
  'Adgangskode',
  'Salasana',
  'Parolă',
  'Palavra-passe',
  'Código de seguridad',
  'Numéro de carte',
  'Parola d’ordine',
  'Geheimzahl',
  'm0t de pa55e',
])('%s is one in its own language', (name) => {
  expect(secretIn({ city: { type: 'string' }, [name]: { type: 'string' } })).toBe(name);
  expect(secretIn({ x: { type: 'string', title: name } })).toBe('x');
});

/** Each with letters of other scripts, or with what only looks like a letter. */
test.each([
  ['a Cyrillic a and o', 'P\u0430ssw\u043Erd'],
  ['Cyrillic letters wherever there are any', '\u0420\u0430\u0455\u0455\u051D\u043Er\u0501'],
  ['Greek letters', 'P\u03B1ssw\u03BFrd'],
  ['Greek capitals', 'P\u0399\u039D code'],
  ['full-width letters', '\uFF30\uFF21\uFF33\uFF33\uFF37\uFF2F\uFF32\uFF24'],
  ['mathematical letters', '\u{1D40F}\u{1D41A}\u{1D42C}\u{1D42C}\u{1D430}\u{1D428}\u{1D42B}\u{1D41D}'],
  ['Armenian and Cherokee letters', '\u13E2assw\u0585rd'],
  ['accents', 'P\u00E4ssw\u00F6rd'],
  ['a dotless i', 'AP\u0131 key'],
  ['invisible marks', 'pass\u200Bw\u00ADord'],
  ['marks that turn the direction of writing', '\u202Epassword'],
  ['an o with a stroke', 'Passw\u00F8rd'],
  ['letters with hooks and strokes', '\u01A4asswo\u027E\u0111'],
  ['a sharp s', 'Pa\u00DFword'],
  ['a Greek omega for a w', 'Pass\u03C9ord'],
  ['small capitals', '\u1D18\u1D00\uA731\uA731\u1D21\u1D0F\u0280\u1D05'],
  [
    'white letters on black squares',
    '\u{1F17F}\u{1F170}\u{1F182}\u{1F182}\u{1F186}\u{1F17E}\u{1F181}\u{1F173}',
  ],
  ['letters of flags', '\u{1F1F5}\u{1F1EE}\u{1F1F3} code'],
  ['a filler that nobody sees', 'Pass\u3164word'],
  ['digits for letters', 'pa55w0rd'],
  ['a dollar sign and an at sign', 'P@$$word'],
  ['two v for a w', 'passvvord'],
  ['an l for an i', 'AP\u006C key'],
])('a secret is one in %s as well', (_, name) => {
  expect(secretIn({ city: { type: 'string' }, [name]: { type: 'string' } })).toBe(name);
  expect(secretIn({ x: { type: 'string', title: name } })).toBe('x');
});

test.each([
  'PLN',
  '\u041F\u0430\u0441\u043F\u043E\u0440\u0442',
  '\u03A0\u03CC\u03BB\u03B7',
  '\u90FD\u5E02',
  'city',
  'secretary',
  'pinned',
  'shipping',
  'tokens_per_second',
  'code',
  'country code',
  'postcode',
  'passenger',
  'passport_holder',
  'Desenhar',
  'forward',
  'author',
  'max_tokens',
  'Stra\u00DFe',
  'K\u00F8benhavn',
  'keyword',
  'authors',
  'card',
  'account',
  'Город',
  'Код города',
  'Парковка',
  '密度',
  '银行',
  '国コード',
  'パスポート番号',
  '都市番号',
  '암호화폐',
  '인증 방법',
  'كلمة',
  'رمز البلد',
  'Κωδικός χώρας',
  'עיר',
  'शहर',
  'เมือง',
  'Code postal',
  'Código postal',
  'Numéro de commande',
  'Parola chiave',
  'Schlüsselwort',
  'Mot clé',
  'The slope',
  'hasLocation',
  'Pass order',
  'รหัสไปรษณีย์',
])('%s is none', (name) => {
  expect(secretIn({ [name]: { type: 'string' } })).toBeNull();
});

test('whatever it is called, a field of format password is one', () => {
  expect(secretIn({ word: { type: 'string', format: 'password' } })).toBe('word');
});

test('a number can be one; a yes or no and a choice cannot', () => {
  expect(secretIn({ pin: { type: 'integer' } })).toBe('pin');
  expect(secretIn({ has_password: { type: 'boolean' } })).toBeNull();
  expect(secretIn({ token: { type: 'string', enum: ['ETH', 'BTC'] } })).toBeNull();
});

test.each([
  'What is your password?',
  'Please enter your GitHub password.',
  'I need the admin API key to go on.',
  'Enter a one-time code',
  'Type your credit card number',
  'Enter your p\u0430ssw\u043Erd',
])('"%s" asks for one', (message) => {
  expect(asksForSecret(message)).toBe(true);
});

test.each([
  'Where shall we go?',
  'Should I reset the password policy?',
  'How many tokens do you want to buy?',
  'Which key signature is the song in?',
])('"%s" does not', (message) => {
  expect(asksForSecret(message)).toBe(false);
});
