/**
 * Every call that the specification (section 7) and the decisions (section 2) name, with the parameters and fields that
 * they name: query after `?`, body after `<`, reply after `>`. Written by hand from those texts, never from the contract.
 */
export const SPECIFIED_CALLS = `
GET /api/tickets/fqa/ ? search limit offset
POST /api/tickets/fqa/ < question answer
PUT /api/tickets/fqa/:id/ < question answer
DELETE /api/tickets/fqa/:id/
GET /api/rewards/coupon_code/ ? search limit offset
POST /api/rewards/coupon_code/ < username code discount code_type
PUT /api/rewards/coupon_code/:id/ < username code discount code_type
DELETE /api/rewards/coupon_code/:id/
GET /api/servers/server-groups/ ? search limit offset
POST /api/servers/server-groups/ < name description servers
PUT /api/servers/server-groups/:id/ < name description servers
DELETE /api/servers/server-groups/:id/
GET /api/products/product_tags/
GET /api/products/product_tags/sync_tags/
PUT /api/products/product_tags/:id/ < tag_name tag_desc
DELETE /api/products/product_tags/:id/
GET /api/orders/statistics > total paid unpaid today totalAmount monthlyAmount dailyAmount
GET /api/orders/search ? order_id username product_name limit offset
GET /api/orders/export ? order_ids
GET /api/orders/order_list/ ? search limit offset product_type
DELETE /api/orders/order_list/:id/
GET /api/orders/order_list/:id/get_proxy_detail/ ? limit offset > proxy_list order total
POST /api/orders/order_list/:id/reset_proxy_password/ > task_id status
GET /api/orders/order_list/:id/check_proxy/ > task_id status
POST /api/orders/order_list/:id/reset_proxy/ > task_id status
POST /api/orders/order_list/:id/devery_order/ > task_id status
POST /api/orders/order_list/:id/update_proxy_expired_at/ < expired_at
POST /api/orders/order_list/:id/order-renew-checkout/ > checkout_url
POST /api/orders/order_list/one_key_reset/ < order_ids
GET /api/orders/order_list/:id/export_proxies/ > proxy_lines proxy_count filename
GET /api/orders/order_list/:id/copy_proxies/ > proxy_lines proxy_count
GET /api/auth/captcha > captcha_image_base captcha_id
POST /api/tickets/ticket/ < username email phone message captcha captcha_id
GET /api/tickets/ticket/ ? search limit offset
DELETE /api/tickets/ticket/:id/
POST /api/auth/login < username password captcha_id captcha > id username email is_superuser
GET /api/auth/login > id username email is_superuser
GET /api/users/u/user_info/ > id username email is_superuser
GET /api/auth/logout
GET /api/auth/discord/login ? mode > discord_auth_url
GET /api/auth/discord/redirect
GET /api/auth/discord/bind_redirect
POST /api/users/u/ < username email email_code email_code_id password repassword invite_code discord_id
POST /api/users/email_validate < email type check_user > email_code_id
POST /api/users/forgot_password_verify < email email_code email_code_id > verify_id
POST /api/users/forgot_password < email password verify_id
POST /api/users/change_password < old_password new_password
GET /api/users/u/ ? search limit offset
POST /api/users/u/:id/baned_user/ < id
POST /api/users/u/:id/unbaned_user/ < id
DELETE /api/users/u/:id/
PUT /api/users/u/:id/ < username email is_active is_superuser reward_points password
POST /api/users/u/:id/change_password/ < id password
POST /api/users/admin/switch-user < user_id > id username email is_superuser
GET /api/users/invite_code > invite_url invite_code
GET /api/users/invite_log ? limit offset
POST /api/users/bot_webhook
GET /api/settings/config
POST /api/settings/config < discord_client_id discord_client_secret discord_redirect_uri discord_bind_redirect_uri discord_bot_token discord_bot_channels discord_bot_points_per_message discord_bot_max_points_per_day shopify_api_key shopify_api_secret shopify_app_key shopify_shop_url email_method email_code_expire sendgrid_api_key mailgun_api_key mailgun_sender_domain support_twitter support_discord invite_level_points_per_user billing_rate level_points_decay_rate level_points_decay_day invite_rebate_rate geofeed
GET /api/settings/logs > server_logs task_logs
GET /api/settings/social > discord twitter
GET /api/products/product_collections/ ? search limit offset
PUT /api/products/product_collections/:id/ < collection_name collection_desc
DELETE /api/products/product_collections/:id/
GET /api/products/product_collections/sync_collection/
GET /api/products/products/ ? search limit offset collection tags id
GET /api/products/products/get_recommend_product/ ? tags
GET /api/products/products/get_product_from_shopify/
POST /api/products/products/stock/ < product_id option_selected
POST /api/products/products/variant_info/ < product_id option_selected > price base_price acl_price stock cart_step local_variant_id shopify_variant_id
POST /api/products/products/ < shopify_product_id variants variant_options product_collections product_tags product_name product_desc
PUT /api/products/products/:id/ < id product_tags product_name product_desc shopify_product_id variants
DELETE /api/products/products/:id/
POST /api/orders/checkout < product_id quantity option_selected > checkout_url order_id expires_at
GET /api/orders/checkout ? order_id > status pay_status delivery_num proxy_num
POST /api/orders/pay_webhook
POST /api/orders/product_webhook
GET /api/servers/acls/ ? limit offset
POST /api/servers/acls/ < name price shopify_variant_id acl_value description
PUT /api/servers/acls/:id/ < name price shopify_variant_id acl_value description
DELETE /api/servers/acls/:id/
GET /api/servers/acl-groups/ ? search limit offset
POST /api/servers/acl-groups/ < name description acls
PUT /api/servers/acl-groups/:id/ < name description acls
DELETE /api/servers/acl-groups/:id/
GET /api/servers/cidrs/ ? search limit offset sort_by sort_order delivery_count_exact delivery_count_min exclude_acl unreferenced server_id
PUT /api/servers/cidrs/:id/ < exclude_acl
POST /api/servers/cidrs/clean_unused/ < include_soft_deleted > results deleted_count cidr_details
GET /api/servers/servers/ ? search limit offset
POST /api/servers/servers/ < name ip description port password cidr run_init update_cidr
PUT /api/servers/servers/:id/ < name ip description port password cidr run_init update_cidr
DELETE /api/servers/servers/:id/
POST /api/servers/servers/:id/create_user_by_prefix/ < username prefix acl_group id
POST /api/servers/servers/:id/delete_user/ < username
POST /api/servers/servers/:id/delete_all_user/
POST /api/servers/servers/:id/reset_all_proxy/ < cidrs
POST /api/servers/servers/:id/flush_access_log/
POST /api/servers/servers/:id/list_acl/
GET /api/servers/servers/:id/get_server_info/ > server_info user_list
POST /api/servers/servers/:id/request_api/ < uri json_input
GET /api/rewards/gift_card/ ? search limit offset
POST /api/rewards/gift_card/ < mount code point
PUT /api/rewards/gift_card/:id/ < mount code point
DELETE /api/rewards/gift_card/:id/
GET /api/rewards/gift_card/base-info/
POST /api/rewards/gift_card/exchange/ < mount
GET /api/rewards/level_code/ ? search limit offset
POST /api/rewards/level_code/ < discount code point
PUT /api/rewards/level_code/:id/ < discount code point
DELETE /api/rewards/level_code/:id/
GET /api/rewards/point_record/ ? limit offset
GET /geofeed.csv
`

/** Calls for programs that watch the shop: outside the contract, without the envelope. */
export const SPECIFIED_PROBES = ['/healthz', '/readyz', '/metrics']

/** Fields of the entities (section 3) that the lists and forms reply with. */
export const SPECIFIED_ENTITIES: Record<string, string> = {
  'GET /api/tickets/fqa/': 'id question answer',
  'GET /api/rewards/coupon_code/': 'id holder_username code code_type discount is_used created_at',
  'GET /api/servers/server-groups/': 'id name description servers',
  'GET /api/servers/servers/': 'id name ip description server_status port cidrs',
  'GET /api/products/product_tags/': 'id tag_name tag_desc',
  'GET /api/orders/order_list/':
    'id order_id shopify_order_id shopify_order_number username uid email product_name variant_name product_quantity pay_amount amount pay_status is_expired created_at expired_at reset_time fail_reason acl_selected proxy_num delivery_num order_number',
  'GET /api/orders/order_list/:id/get_proxy_detail/':
    'ip port username password status bing_delay google_delay amazon_delay created_at updated_at',
  'POST /api/products/products/stock/': 'acl_id acl_name price stock domains',
  'GET /api/servers/acls/': 'id name price shopify_variant_id description acl_value created_at',
  'GET /api/servers/acl-groups/': 'id name description acls',
  'GET /api/servers/cidrs/': 'id cidr exclude_acl delivery_count server_ids',
  'GET /api/products/products/':
    'id active valid old_flag product_name shopify_product_id product_desc lower_price product_collections product_tags variant_options variants created_at',
  'GET /api/products/product_collections/': 'id collection_name collection_desc shopify_collection_id',
  'GET /api/rewards/gift_card/': 'id mount point code is_exchanged',
  'GET /api/rewards/level_code/': 'id level discount code point',
  'GET /api/tickets/ticket/': 'id username email phone message',
  'GET /api/users/u/':
    'id username email discord_id discord_name is_active is_superuser reward_points points level level_points invite_count created_at last_login last_login_time last_login_ip last_location',
  'GET /api/users/invite_log': 'id username created_at',
  'GET /api/rewards/point_record/': 'created_at reason point',
  'GET /api/rewards/gift_card/base-info/': 'mount point'
}
