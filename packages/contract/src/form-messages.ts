/**
 * Messages about invalid fields, by key. English, and literally the specification's where it has one. Values are
 * placeholders in braces. Other languages translate the key.
 */
import { fillIn, type Params } from './fill-in.ts'

export const formMessages = {
  // everywhere
  must_be_id: 'Must be an id',
  must_be_ids: 'Must be ids, separated by commas',
  too_many_ids: 'Too many ids',
  at_most_characters: 'At most {max} characters',
  forbidden_character: 'Contains a character that is not allowed',
  must_be_contact: 'Must be an email address, or an address that starts with https://',
  must_be_currency: 'Must be a currency of three letters, such as USD',
  must_have_cents: 'Must be a currency with cents, such as USD or EUR',
  must_be_amount: 'Must be an amount with at most 2 decimals',
  must_be_above_zero: 'Must be more than 0',
  must_be_at_least: 'Must be at least {min}',
  must_be_at_most: 'Must be at most {max}',
  must_be_number: 'Must be a number from {min} to {max}',
  must_be_whole_number: 'Must be a whole number from {min} to {max}',
  whole_or_empty: 'Must be a whole number from {min} to {max}, or empty',
  must_be_web_address: 'Must be a web address, such as https://example.com',
  must_be_shop_address: 'Must be a domain, such as my-shop.myshopify.com, or a web address',
  must_be_public_key: 'Must be the public key as the service shows it, in one line',
  must_be_selector: 'Must be a selector, such as s1',
  must_be_time_zone: 'Must be a time zone, such as Europe/Berlin',
  must_be_colour: 'Must be a colour, such as #0b6860, or empty',
  enter_shop_name: 'Please enter the name of the shop',
  choose_picture: 'Please choose a PNG, SVG or WebP picture',
  picture_too_large: 'The picture may have at most {max} kB',
  picture_runs_code: 'The SVG contains scripts or loads other files. Please export it as a plain picture.',
  must_be_webhook_secret: 'Must be whsec_ followed by 24 to 64 bytes in base64',
  enter_clock: 'Please enter a time such as 22:00',
  at_most_rows: 'At most {max} rows',
  must_be_json: 'Must be JSON, or null',
  must_be_translations: 'Must be texts by language. The only language is zh-CN.',
  must_select: 'Please select',
  client_lines: 'At most {max} lines',
  unknown_action: '未知操作类型',
  unknown_key: 'Unknown key',

  // lists
  limit_range: 'limit must be a whole number from {min} to {max}',
  offset_range: 'offset must be a whole number from {min}',
  sort_by_columns: 'sort_by must be one of {columns}',
  sort_order_words: 'sort_order must be asc or desc',
  enter_search: 'Please enter what to search for',
  format_words: 'format must be json or csv',

  // accounts
  enter_new_username: 'Please input username',
  username_length: 'Length should be 4 to 10',
  username_characters: 'Can only contain letters and numbers',
  username_letter: 'Must contain at least one letter',
  enter_email: 'Please input email',
  email_format: 'Please input correct email format',
  enter_email_code: 'Please input code',
  enter_password: 'Enter a password',
  repeat_password: 'Please input re-password',
  passwords_differ: 'Password not consistent',
  password_rule:
    'Password must contain at least one lowercase letter, one uppercase letter, one number, one special character and length should be 8 to 20',
  enter_username_or_email: 'Please enter your username or email!',
  enter_your_password: 'Please enter your password!',
  enter_captcha: 'Please enter the captcha code!',
  enter_second_factor: 'Please enter the code!',
  enter_your_email: 'Please enter your email address!',
  enter_email_or_code: 'Please enter your email or code!',
  verification_expired: 'The verification has expired. Please request a new code.',
  enter_old_password: 'Please Enter Old Password',
  enter_new_password: 'Please Enter New Password',
  enter_password_of_user: 'Please enter password',
  enter_points: 'Please enter points',
  enter_points_change: 'Please enter a whole number, such as 50 or -50',
  enter_a_name: 'Please enter a name',
  needs_event_id: 'event_id is required',
  needs_discord_id: 'discord_id is required',
  needs_channel_id: 'channel_id is required',
  needs_time: 'at must be an ISO 8601 time',
  enter_time: 'Please enter a time such as 2026-03-01T12:00:00Z',

  // catalogue and orders
  must_be_variant_id: 'Must be a platform variant id',
  must_be_cart_step: 'Must be one of 1, 8, 16, 32, 64, 128, 256',
  enter_option_name: 'Please enter the option name',
  enter_option_value: 'Please enter the option value',
  select_product: 'Please select a product',
  enter_product_name: 'Please enter the product name',
  enter_collection_name: 'Please enter the collection name',
  enter_tag_name: 'Please enter the tag name',
  add_variant: 'Add at least one variant',
  too_many_rules: 'Too many access rules',
  unknown_order: 'Unknown order',
  select_expiry: 'Please select the expire time',
  expiry_too_late: 'The expiry must be before the year 2100',
  quantity_whole: 'The quantity must be a whole number',
  quantity_too_large: 'The quantity is too large for one order',
  quantity_step: 'The quantity must be a positive multiple of the step',

  // fleet and inventory
  enter_name: 'Please enter name',
  enter_ip: 'Please enter ip',
  must_be_ip: 'Must be an IP address',
  must_be_port: 'Must be a port',
  enter_cidr: 'Please enter cidr',
  must_be_path: 'Must be an absolute path on the server, starting with /',
  must_be_certificate: 'Must be a certificate in PEM',
  must_be_fingerprint: 'Must be a fingerprint as ssh prints it: SHA256 and 43 characters',
  enter_server_group: 'Please enter server group',
  select_server: 'Please select server',
  enter_description: 'Please enter description',
  enter_price: 'Please enter price',
  enter_variant_id: 'Please enter Shopify Variant Id',
  enter_rule: 'Please enter rule',
  overlap_narrow_wins:
    '{domain} belongs only to {narrow}. Customers with {narrow} can access it. Customers with only {broad} cannot.',
  overlap_broad_wins:
    '{domain} is also part of {broad}. Customers with {narrow} or {broad} can access it. No address is leased under both rules to two customers.',
  enter_group_name: 'Please enter group name',
  select_acl: 'Please select acl',
  enter_proxy_user: 'please enter a username',
  enter_prefix: 'please enter a prefix',
  select_acl_group: 'please select a acl_group',
  enter_target: 'Enter a host and a port, such as example.com:443',
  enter_uri: 'please enter a correct uri',
  enter_json_input: 'please enter a correct json_input',

  // status page
  enter_title: 'Please enter a title',
  enter_what_is_new: 'Please enter what is new',

  // rewards, support, settings
  enter_holder: 'Please enter username',
  enter_reason: 'Please enter a reason',
  enter_days: 'Please enter whole days, 1 to 366',
  enter_order: 'Please enter the number of an order',
  needs_version: 'Send the version that you have seen, so that this is done only once',
  needs_end: 'Send the current expiry of the order, so that the days are added only once',
  needs_batch: 'Send a batch of 32 hexadecimal digits, a new one for each batch of cards',
  must_be_yes_or_no: 'Must be true or false',
  enter_code: 'Please enter code',
  code_characters: 'Must not contain a comma or a line break: checkout links separate codes with commas',
  enter_discount: 'Please enter discount',
  enter_mount: 'Please enter mount',
  enter_point: 'Please enter point',
  select_type: 'Please select type',
  enter_question: 'Please enter question',
  enter_answer: 'Please enter answer',
  enter_note: 'Please enter a note',
  fill_out_form: 'Please fill out the form first!',
  solve_captcha: 'Please input the calculation results in the picture first!',
  select_email_method: 'Must be sendgrid, mailgun or smtp'
} as const

export type FormMessage = keyof typeof formMessages

type Blanks<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Blanks<Rest> : never
type BlanksOf<K extends FormMessage> = Blanks<(typeof formMessages)[K]>
type Values<K extends FormMessage> = [BlanksOf<K>] extends [never] ? [] : [Record<BlanksOf<K>, string | number>]

const keys = new Map<string, { key: FormMessage; params: Params }>()

/** The message of a key: message('at_most_characters', { max: 9 }). Registers it for `messageKeyOf`. */
export function message<K extends FormMessage>(key: K, ...[values]: Values<K>): string {
  const params: Params = values ?? {}
  const sentence = fillIn(formMessages[key], params)
  keys.set(sentence, { key, params })
  return sentence
}

/** The key and values of a message; undefined if no schema produced it. */
export const messageKeyOf = (sentence: string): { key: FormMessage; params: Params } | undefined => keys.get(sentence)
