import { agentSettingRefusals, tlsRefusals } from './agent-setting-messages.ts'

/**
 * Every refusal that a person can meet: its HTTP status (which is also the envelope's `code`) and its words. Where the
 * specification gives a message it is letter for letter that one. There is one reason for each thing that a person does
 * differently, not for each path through the code.
 */
export const refusals = {
  // Any call
  bad_request: [400, 'The request is invalid'],
  invalid: [400, 'Please check the highlighted fields'],
  needed: [400, 'Please fill in this field'],
  choice_gone: [400, 'Your choice no longer exists. Please choose again.'],
  chosen_twice: [400, 'You can choose each only once'],
  is_fixed: [400, 'You cannot change this. Add another one instead.'],
  invalid_lines: [400, '{problem}'],
  bad_cursor: [400, 'after must be a next value of this list with the same sorting'],
  idempotency_key_invalid: [400, 'Send an Idempotency-Key header of 1 to {max} printable ASCII characters'],
  unauthorized: [401, 'Please log in'],
  forbidden: [403, 'You do not have permission to do this'],
  role_not_allowed: [403, 'Your role does not allow this'],
  confirmation_needed: [403, 'Please confirm that it is you. Nothing has changed.'],
  bad_origin: [403, 'This request did not come from the shop'],
  not_found: [404, 'Not found'],
  too_slow: [408, 'The request took too long to arrive. Please try again.'],
  conflict: [409, 'This conflicts with existing data'],
  stale: [409, 'This has changed since you opened it. Please review it and try again.'],
  name_taken: [409, 'This name is already in use'],
  already_over: [409, 'This has already ended'],
  too_many_kept: [409, 'You can have at most {max}. Delete one that you do not use.'],
  too_large: [413, 'The request is too large'],
  unsupported_type: [415, 'Send JSON with the content type application/json'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used for another request. Send a new one.'],
  too_many: [429, 'Too many requests. Please wait a moment and try again.'],
  made_in_a_day: [429, 'You have created {max} within a day. Please try again tomorrow.'],
  internal: [500, 'Something went wrong on our side. Please try again.'],
  unavailable: [503, 'The service is unavailable right now. Please try again.'],

  // Accounts, log-in and API keys
  wrong_login: [401, 'The username, email or password is not correct'],
  captcha_required: [401, 'Please enter the captcha code!'],
  wrong_captcha: [400, 'The captcha code is not correct'],
  second_factor_needed: [401, 'Please confirm your login with your second factor'],
  wrong_second_factor: [400, 'The code is wrong or was already used'],
  wrong_passkey: [400, 'This passkey was not accepted'],
  passkey_needs_password: [
    403,
    'Access to this account has changed. Please log in with your password, then with this passkey.'
  ],
  login_ticket_over: [401, 'This login took too long. Please start again.'],
  second_factor_throttled: [429, 'Too many wrong codes. Please wait 15 minutes and try again.'],
  second_factor_required: [403, 'Please turn on two-factor authentication first'],
  second_factor_not_begun: [409, 'This took too long or is already done. Please start again.'],
  last_second_factor: [409, 'Operators need a second factor. Add another one before you remove the last.'],
  no_second_factor: [409, 'Two-factor authentication is off for this account'],
  passkey_taken: [409, 'This passkey is already added'],
  passkey_needs_name: [409, 'Passkeys need a hostname. Open the shop as localhost instead of its IP address.'],
  banned: [403, 'This account has been banned'],
  login_throttled: [429, 'Too many failed logins. Please wait 15 minutes and try again.'],
  username_taken: [409, 'This username is already taken'],
  email_taken: [409, 'This email is already registered'],
  same_email: [400, 'This is already your email address'],
  wrong_email_code: [400, 'The verification code is not correct or has expired'],
  wrong_verification: [400, 'The verification has expired. Please request a new code.'],
  email_code_too_soon: [429, 'We sent a code a moment ago. Please wait a minute before you request another.'],
  email_code_limit: [
    429,
    'Too many codes were requested for this address. Please use the newest email, or try again tomorrow.'
  ],
  wrong_password: [400, 'The password is not correct'],
  password_is_common: [
    400,
    'This password is easy to guess. Choose a longer one that is not a common word with a few digits or symbols.'
  ],
  password_has_name: [400, 'The password must not contain your username or the name of your email address'],
  password_needed: [403, 'Please enter your password again to do this'],
  unknown_invite_code: [400, 'This invite code does not exist'],
  discord_proof_missing: [400, 'Please log in with the chat platform again, or sign up without it'],
  discord_taken: [409, 'Discord bind failed,the discord account has been bound to other account'],
  discord_unavailable: [503, 'Unable to obtain third-party login path!'],
  not_bound: [409, 'No chat account is connected'],
  unknown_user: [400, 'This user does not exist'],
  points_by_change: [409, 'Change points by an amount, such as 50 or -50. You cannot set them to a value.'],
  points_out_of_range: [400, 'The balance is {balance} and must stay from {min} to {max}'],
  user_has_leases: [409, 'This user still has active leases and cannot be deleted'],
  user_is_owed: [409, 'This user has a paid order that is not delivered or refunded yet, and cannot be deleted'],
  account_has_leases: [409, 'You still have active proxies or an unpaid order. Please wait until they end.'],
  account_is_owed: [409, 'You have a paid order that is not delivered or refunded yet. Please contact support.'],
  account_owes_coins: [
    409,
    'Your account owes {coins} {coins|coin|coins} for refunded payments. Please contact support to delete it.'
  ],
  own_account: [409, 'You cannot do this to your own account'],
  last_owner: [409, 'The shop needs an active owner. Make another operator an owner first.'],
  cannot_switch: [403, 'Failed to switch user'],
  not_impersonating: [409, "You are not viewing another user's account"],
  while_impersonating: [403, "You cannot do this while viewing another user's account"],
  key_not_allowed: [403, 'An API key cannot do this. Please log in.'],
  key_permission_missing: [403, 'This API token lacks the permission {permission}'],
  key_scope_missing: [403, 'This API key lacks the permission {scope}'],
  key_rate_limited: [
    429,
    'This API key can make {max} calls per minute. Please wait {seconds} {seconds|second|seconds}.'
  ],

  // Products, plans and the platform
  platform_unavailable: [503, 'The e-commerce platform could not do this: {message}'],
  recovering: [
    503,
    'The shop was restored from a backup and is checking for newer payments. Please try again in a few minutes.'
  ],
  platform_paused: [503, 'Payments are not possible right now. Please try again later.'],
  platform_not_configured: [503, 'The e-commerce platform is not configured. Set it up under Web Settings.'],
  product_fetch_failed: [503, 'Failed to obtain data, please try again'],
  platform_product_gone: [400, 'The e-commerce platform has no product {product}.'],
  unknown_platform_variant: [400, 'The product on the platform has no such variant'],
  product_exists: [409, 'This product has already been added'],
  variant_sold: [409, '{name} already uses this variant on the platform'],
  step_too_large: [400, 'No address range in this server group can hold a block of this size'],
  egress_needs_ipv6: [400, 'Only IPv6 plans can have rotating or sticky exit addresses'],
  sync_changed: [409, 'Changed since the sync: {names}. You can no longer undo it.'],
  price_drift_gone: [404, 'This price now matches the platform'],
  prices_busy: [409, 'The shop is still sending other prices to the platform. Please try again in a moment.'],
  bad_signature: [401, 'The signature does not match'],
  other_shop: [403, 'This webhook belongs to another shop'],

  // Checkout and renewal
  admin_purchase: [400, 'Admin accounts cannot make purchases. Please use a regular account.'],
  unknown_variant: [400, 'This plan is not available. Please choose another one.'],
  unknown_rule: [400, 'One of the selected access rules is no longer available. Please select again.'],
  no_rule: [400, 'Please select'],
  sold_out_on_platform: [409, '{name} is sold out at the checkout. Please try again later, or contact support.'],
  short_on_platform: [
    409,
    '{name}: the checkout has only {left} left. Please order fewer, try again later, or contact support.'
  ],
  wrong_quantity: [400, 'The quantity must be a positive multiple of {step}'],
  out_of_stock: [409, 'Out of stock'],
  too_many_reservations: [429, 'You have too many unpaid orders. Please pay one of them or wait until it times out.'],
  too_many_unpaid_addresses: [
    429,
    'Unpaid orders can hold at most {max} IPs, and yours hold {held}. Please pay one in full, cancel one, or order fewer.'
  ],
  too_many_before_payment: [
    429,
    'Before your first payment, unpaid orders can hold at most {max} IPs, and yours hold {held}. Please order fewer, or pay first.'
  ],
  network_holds_unpaid: [429, 'Your network has too many unpaid orders. Please pay one of them, or try again later.'],
  too_many_addresses: [400, 'An order can have at most {max} IPs. Please order fewer.'],
  unpaid_too_often: [
    429,
    'You reserved IPs without paying too often in the last 24 hours. Please pay an unpaid order, or try again later.'
  ],
  idempotency_key_over: [
    409,
    'Order {order} of this Idempotency-Key was cancelled or has timed out. Send a new key to place a new order.'
  ],
  order_expired: [409, 'The order has expired, please place a new order.'],
  plan_withdrawn: [
    409,
    'This plan is no longer sold, so you cannot renew it. Your proxies work until they expire. Please choose another plan.'
  ],
  rule_withdrawn: [
    409,
    'The access rule {rule} is no longer sold, so you cannot renew this order. Your proxies work until they expire. Please place a new order.'
  ],
  order_not_delivered: [409, 'This order is not delivered yet. Its term starts on delivery.'],

  // Orders, and who may use their proxies
  order_not_unpaid: [409, 'You can cancel only an unpaid order'],
  order_not_paid: [409, 'This order is unpaid'],
  /** The same for operators. */
  order_over: [409, 'This order has expired'],
  order_refunded: [409, 'This order has been refunded'],
  order_busy: [409, 'Another action on this order is still running. Please wait until it ends.'],
  no_orders_selected: [400, '请先选择订单'],
  no_proxies: [404, 'No proxy data found'],
  expiry_in_past: [400, 'The expiry must be in the future'],
  order_was_delivered: [
    409,
    'This order has nothing left to deliver. You can reopen only orders that ended undelivered or with time left.'
  ],
  order_has_lease: [409, 'This order still has proxies, so you cannot delete it'],
  order_runs: [409, 'This order is paid and active. Refund it or wait until it ends, then delete it.'],
  order_has_open_payment: [
    409,
    'A payment for this order needs a decision under Payments. Decide on it, then delete the order.'
  ],
  task_not_allowed: [409, 'Customers cannot do this in this shop. Please contact support.'],
  task_used_up: [
    429,
    'You have done this {max} {max|time|times} in this term, which ends {until}. Renew the order to do it again.'
  ],
  changes_found_none: [429, 'We have no other addresses for this order right now. Please try again after {until}.'],
  changes_rest: [429, 'You changed the addresses of this order recently. You can change them again after {until}.'],
  enter_client: [400, 'Please enter at least one IP'],
  invalid_client: [400, '{line} is not a client IP or a prefix such as 203.0.113.0/28'],
  wide_client: [400, '{line} is too wide. Use at most a /24 (IPv4) or a /48 (IPv6).'],
  client_listed_elsewhere: [
    409,
    'Another order with the same proxies already allows {line}. Clients there need the password.'
  ],
  client_changes_limit: [429, 'You have changed the list {max} times within an hour. Please try again after {until}.'],
  check_needs_address: [409, 'Only allowed IPs can use these proxies, so the shop cannot check them.'],

  // Payments and refunds
  order_without_payment: [409, 'This order has no payment that can be refunded'],
  refund_too_large: [400, 'You can refund at most {left} of this payment'],
  refund_running: [
    409,
    'A refund of payment {platform_order}, requested by {by}, is in progress. Please wait until the platform reports it.'
  ],
  refund_pending: [
    409,
    'The platform has not finished the refund of payment {platform_order} that {by} requested. You can request another one only if it fails.'
  ],
  refund_uncounted: [
    409,
    'The platform made the refund of payment {platform_order} that {by} requested. The shop is recording it. Please check again in a moment.'
  ],
  refund_unanswered: [
    409,
    'The platform did not confirm the refund of {amount} that {by} requested. Please request {amount} again first. It is refunded only once.'
  ],
  refund_unknown: [
    503,
    'The platform may have made this refund: {message} It counts as in progress until the platform reports it, for at most 10 minutes.'
  ],
  payment_just_applied: [
    409,
    '{by} has just applied payment {platform_order}, and its order continues. Please review it. {by} can refund it now, other operators after 10 minutes.'
  ],
  payment_resolved: [409, 'Someone has already resolved this: {resolution}'],
  payment_settled: [409, 'This payment already counts for order {order}'],
  payment_given_back: [409, 'This payment was refunded'],
  payment_on_order: [409, 'This payment belongs to order {order}. Deliver that order, or refund the payment.'],
  payment_not_applicable: [409, 'This event contains no payment that you can apply to an order'],
  order_not_found: [404, 'There is no order {order}'],
  order_of_deleted: [409, 'The account of order {order} was deleted. Refund the payment instead.'],
  order_has_payment: [409, 'Order {order} is paid and waiting for addresses. Deliver it instead.'],
  order_cannot_renew: [
    409,
    'Order {order} is {state} and cannot be paid or renewed. If it has paid time left, reopen it first.'
  ],

  // Servers and server groups
  agent_taken: [409, 'Server {server} already uses this address and agent port'],
  agent_unreachable: [503, 'The server is not responding: {message}'],
  agent_refused: [400, 'The server refused this: {message}'],
  saved_agent_unreachable: [503, 'Saved. Takes effect when the server responds: {message}'],
  saved_agent_busy: [503, 'Saved. Takes effect after the other changes to this server.'],
  certificate_unreadable: [
    400,
    'This certificate cannot be read. Paste the PEM of the certificate alone, without its key.'
  ],
  secret_of_address: [
    400,
    'The address has changed. Please enter this again. The shop does not send stored secrets to another machine.'
  ],
  server_installing: [409, 'The agent of this server is being installed. Cancel the installation first.'],
  server_given_up: [409, 'This server was given up. Take it back before you use it again.'],
  server_not_given_up: [409, 'This server was not given up'],
  server_returning: [409, 'This server is being taken back. It sells again after the console has checked its agent.'],
  server_leased: [409, 'Addresses of this server are still leased by {count} {count|order|orders}: {orders}'],
  server_group_sells: [409, 'Variants still sell from this server group: {variants}'],
  hand_made_user: [409, 'The manually created proxy user {username} still uses addresses there. Delete it first.'],
  proxy_user_taken: [409, 'The name {username} is in use, or kept for orders. Please choose another one.'],
  user_of_order: [409, 'The user {username} belongs to order {orders}. Change, end or delete that order instead.'],
  prefix_too_large: [400, '{prefix} is too large. Use at most a /16.'],
  no_ipv6_ranges: [400, 'This server has no IPv6 ranges'],
  move_target_unfit: [400, 'The addresses are already there. Choose another server or group.'],
  move_target_gone: [400, 'The target server or group does not exist or is not selling'],
  nothing_to_move: [409, 'This order has no addresses there'],

  // Upgrades of agents
  upgrade_running: [409, 'Another server upgrade is already running'],
  upgrade_none: [409, 'None of these servers can be upgraded now'],
  upgrade_first: [400, 'The first server must be one of the servers to upgrade'],
  upgrade_not_stopped: [409, 'This upgrade is not stopped'],
  upgrade_other_version: [
    409,
    'The console now installs {now}, but this upgrade installs {version}. End it and start a new one.'
  ],
  upgrade_paused: [409, 'The server is paused'],
  upgrade_foreign: [409, 'The agent on this server belongs to another console'],
  upgrade_unapproved: [409, 'A repair of this server needs approval first'],
  upgrade_no_login: [409, 'The console has no SSH login for this server'],
  upgrade_no_answer: [409, 'The agent on this server does not respond'],
  upgrade_not_needed: [409, 'The server already has this version'],
  upgrade_failed: [409, '{message}'],
  upgrade_silent: [409, 'The proxy port of its first leased address does not respond'],
  upgrade_not_tried: [409, 'The console could not test its proxy'],
  upgrade_is_other: [409, 'The agent reports version {version} after the installation'],
  upgrade_cancelled: [409, 'Someone cancelled the installation'],
  upgrade_lost: [409, 'The installation ended without a result, or another one replaced it'],

  // Outages
  outage_times: [
    400,
    'An outage must start within the last {days} days, after its server was added ({added}). It must end after it starts, and not in the future.'
  ],
  outage_overlaps: [409, 'An outage of this server is already recorded from {from} to {to}'],
  outage_recorded: [
    409,
    'The health checks recorded this outage. You can delete only outages that were entered manually.'
  ],
  outage_credited: [
    409,
    'You cannot delete this outage, because {count} {count|order was|orders were} credited for it'
  ],
  outage_being_credited: [409, 'Bulk action {run} is crediting this outage. Cancel it, or wait until it ends.'],
  outage_lasts: [409, 'This outage is ongoing. You can credit it after it ends.'],
  outage_has_incident: [409, 'This outage is already linked to the incident “{title}”'],
  nothing_to_credit: [409, 'This order had no working addresses on the server during the outage'],

  // Address ranges and access rules
  cidr_overlaps: [409, '{cidr} overlaps {other}'],
  cidr_overlaps_server: [409, '{cidr} overlaps {other} of server {server}'],
  cidr_not_on_server: [400, '{cidr} is not within the ranges of this server'],
  cidr_leased: [409, 'Addresses of {cidr} are still leased by {count} {count|order|orders}: {orders}'],
  rule_leased: [409, 'This access rule is still in use by {count} {count|order|orders}: {orders}'],
  domain_taken: [409, '{domain} is already in the access rule {rule}. Domains that other rules have: {count}'],
  overlap_undecided: [
    409,
    '{domain} of {narrow} is part of {within} of {broad}. Decide which rule applies. Overlaps to decide: {count}'
  ],
  rules_share_addresses: [
    409,
    'The rules {rule} and {other} cannot share a domain while orders hold the same addresses under them: {orders}. Let the narrower rule apply, or wait until these orders end.'
  ],

  // Coins, levels and codes
  insufficient_coins: [409, 'Insufficient Coins'],
  price_changed: [409, 'The price has changed: this reward now costs {point} {point|coin|coins}'],
  no_gift_card: [409, 'This reward is not available right now'],
  gift_card_exchanged: [409, 'This gift card has already been exchanged'],
  code_taken: [409, 'This code already exists'],
  code_used: [409, 'This code was already used or exchanged, so the shop no longer checks it on the platform'],
  no_code: [409, 'This level has no code yet'],
  level_points_order: [400, 'Points must rise with each level. Level {level} has {points}.'],
  report_too_old: [400, 'at must be within the last 24 hours'],

  // Tickets, mails and the status page
  ticket_answered: [409, 'This ticket already has a reply'],
  ticket_moved: [409, 'There is a newer message. Read it, then send your reply again.'],
  ticket_closed: [409, 'This ticket is closed. Please send a new one.'],
  ticket_not_open: [409, 'This ticket is closed. Reopen it first.'],
  ticket_full: [409, 'This ticket already has {max} messages. Please start a new one.'],
  no_assignee: [400, 'This operator cannot answer tickets. Choose another one.'],
  mail_copied_often: [409, 'This email has already been resent {count} times'],
  mail_sent_lately: [409, 'This email was sent less than {minutes} minutes ago'],
  mail_address_blocked: [409, 'This address is blocked. Unblock it under Emails first.'],
  wrong_unsubscribe_token: [400, 'This link is not valid. Log in and choose your emails under Settings.'],
  wrong_status_token: [400, 'This link is no longer valid. Please subscribe again.'],
  incident_exists: [409, 'An open incident already has this title'],
  incident_in_future: [400, 'An incident cannot start in the future. For planned work, create maintenance.'],
  incident_ended: [409, 'This maintenance has ended, so you cannot change its state'],
  incident_state: [400, 'The state must be one of {kind}'],
  maintenance_times: [400, 'Maintenance must end after it starts, within {days} days, and not in the past'],

  // Webhooks and notices
  webhook_off: [409, 'This endpoint is turned off. Turn it on first.'],
  webhook_waiting: [409, 'This event is still waiting for its next attempt'],
  webhook_not_https: [400, 'Enter a URL that starts with https://'],
  webhook_port: [400, 'This port is not allowed. Use 443 or 8443 with https, 80 or 8080 with http.'],
  webhook_not_public: [400, 'This URL is not public. Enter one that can be reached from the internet.'],
  webhook_own_address: [400, "This is one of the shop's own addresses. Enter another URL."],
  notice_target: [
    400,
    'The shop cannot send to this address. Enter a public one that starts with https://, on port 443, 8443, 80 or 8080.'
  ],
  notice_recipients: [400, 'Choose operators of the shop'],

  // The geofeed
  geofeed_fields: [400, 'Line {line}: has more than five fields'],
  geofeed_prefix: [400, "Line {line}: '{prefix}' is not an address range"],
  geofeed_duplicate: [400, 'Line {line}: {prefix} is already listed in line {before}'],
  geofeed_country: [400, "Line {line}: '{country}' is not a country code of ISO 3166, such as GB or US"],
  geofeed_region: [400, "Line {line}: '{region}' is not a region code of ISO 3166-2, such as US-NY"],
  geofeed_other_country: [400, 'Line {line}: the region {region} is not in the country {country}'],

  // Bulk commands
  bulk_none_match: [409, 'Nothing matches now. Please check the list again.'],
  bulk_too_many: [400, 'At most {max} rows can be changed at once'],
  bulk_other_match: [409, 'Different rows match now: {count}. Please check the list again.'],
  bulk_not_allowed: [403, 'Stopped, because {username} is no longer an active operator'],

  // The agents’ settings, and TLS to the proxies
  ...agentSettingRefusals,
  ...tlsRefusals
} as const satisfies Record<string, readonly [status: number, message: string]>

export type Reason = keyof typeof refusals
