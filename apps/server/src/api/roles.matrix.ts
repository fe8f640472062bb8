/**
 * Who passes authorisation, call by call. `in`: the call was let in, with any later result. 401, 403: turned away.
 * 404: another customer owns the thing, and the reply hides that it exists. Ids in the paths of OWNED are the customer's.
 * Webhooks answer 401 to everyone, because nothing here is signed.
 *
 * Programs call with keys of the customer and of an administrator; each has one that may `read` and one that may `renew`.
 * An administrator's key has a customer's rights. The owner may do everything; the contract's permissions.ts lists what
 * the other roles may do.
 */
export const MATRIX = `
                                                              visitor
                                                              |    customer
                                                              |    |    other customer
                                                              |    |    |    banned
                                                              |    |    |    |    owner
                                                              |    |    |    |    |    operations
                                                              |    |    |    |    |    |    support
                                                              |    |    |    |    |    |    |    viewer
                                                              |    |    |    |    |    |    |    |    key that reads
                                                              |    |    |    |    |    |    |    |    |    key that renews
                                                              |    |    |    |    |    |    |    |    |    |    owner's key that reads
                                                              |    |    |    |    |    |    |    |    |    |    |    owner's key that renews
GET /api/auth/captcha                                         in   in   in   in   in   in   in   in   in   in   in   in
POST /api/auth/login                                          in   in   in   in   in   in   in   in   in   in   in   in
POST /api/auth/second_factor                                  in   in   in   in   in   in   in   in   in   in   in   in
POST /api/auth/second_factor/options                          in   in   in   in   in   in   in   in   in   in   in   in
POST /api/auth/passkey/options                                in   in   in   in   in   in   in   in   in   in   in   in
POST /api/auth/passkey                                        in   in   in   in   in   in   in   in   in   in   in   in
GET /api/auth/login                                           401  in   in   401  in   in   in   in   403  403  403  403
GET /api/auth/session/                                        in   in   in   in   in   in   in   in   in   in   in   in
GET /api/users/u/user_info/                                   401  in   in   401  in   in   in   in   in   403  in   403
GET /api/auth/logout                                          in   in   in   in   in   in   in   in   in   in   in   in
GET /api/auth/discord/login                                   in   in   in   in   in   in   in   in   in   in   in   in
GET /api/auth/discord/redirect                                in   in   in   in   in   in   in   in   in   in   in   in
GET /api/auth/discord/bind_redirect                           in   in   in   in   in   in   in   in   in   in   in   in
POST /api/users/u/                                            in   in   in   in   in   in   in   in   in   in   in   in
POST /api/users/email_validate                                in   in   in   in   in   in   in   in   in   in   in   in
POST /api/users/forgot_password_verify                        in   in   in   in   in   in   in   in   in   in   in   in
POST /api/users/forgot_password                               in   in   in   in   in   in   in   in   in   in   in   in
POST /api/users/change_password                               401  in   in   401  in   in   in   in   403  403  403  403
GET /api/users/u/                                             401  403  403  401  in   in   in   in   403  403  403  403
GET /api/users/u/:id/                                         401  403  403  401  in   in   in   in   403  403  403  403
GET /api/users/u/:id/sessions/                                401  403  403  401  in   in   in   in   403  403  403  403
DELETE /api/users/u/sessions/:id/                             401  403  403  401  in   in   403  403  403  403  403  403
POST /api/users/u/:id/end_sessions/                           401  403  403  401  in   in   403  403  403  403  403  403
GET /api/users/u/:id/api_keys/                                401  403  403  401  in   in   in   in   403  403  403  403
GET /api/users/u/:id/logins/                                  401  403  403  401  in   in   in   in   403  403  403  403
GET /api/users/u/:id/points/                                  401  403  403  401  in   in   in   in   403  403  403  403
GET /api/users/u/:id/payments/                                401  403  403  401  in   in   in   in   403  403  403  403
GET /api/users/u/:id/tickets/                                 401  403  403  401  in   in   in   in   403  403  403  403
POST /api/users/u/:id/baned_user/                             401  403  403  401  in   in   403  403  403  403  403  403
POST /api/users/u/:id/unbaned_user/                           401  403  403  401  in   in   403  403  403  403  403  403
POST /api/users/u/:id/unbind_discord/                         401  403  403  401  in   in   403  403  403  403  403  403
POST /api/users/u/:id/reset_second_factor/                    401  403  403  401  in   403  403  403  403  403  403  403
DELETE /api/users/u/:id/                                      401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/users/u/:id/                                         401  403  403  401  in   in   403  403  403  403  403  403
POST /api/users/u/:id/change_password/                        401  403  403  401  in   in   403  403  403  403  403  403
POST /api/users/admin/switch-user                             401  403  403  401  in   in   in   403  403  403  403  403
POST /api/users/admin/switch-back                             401  in   in   401  in   in   in   in   403  403  403  403
GET /api/users/invite_code                                    401  in   in   401  in   in   in   in   403  403  403  403
GET /api/users/invite_log                                     401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/bot_webhook                                   401  401  401  401  401  401  401  401  401  401  401  401
GET /api/users/preferences/:key                               401  in   in   401  in   in   in   in   403  403  403  403
PUT /api/users/preferences/:key                               401  in   in   401  in   in   in   in   403  403  403  403
GET /api/users/sessions/                                      401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/sessions/end_others/                          401  in   in   401  in   in   in   in   403  403  403  403
DELETE /api/users/sessions/:id/                               401  in   404  401  404  404  404  404  403  403  403  403
POST /api/auth/discord/bind                                   401  in   in   401  in   in   in   in   403  403  403  403
POST /api/auth/discord/unbind                                 401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/change_email_code                             401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/change_email                                  401  in   in   401  in   in   in   in   403  403  403  403
GET /api/users/u/data_export                                  401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/delete_account                                401  in   in   401  in   in   in   in   403  403  403  403
GET /api/users/second_factor/                                 401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/second_factor/                                401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/second_factor/confirm                         401  in   in   401  in   in   in   in   403  403  403  403
PUT /api/users/second_factor/                                 401  in   in   401  in   in   in   in   403  403  403  403
DELETE /api/users/second_factor/                              401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/second_factor/recovery_codes                  401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/second_factor/options                         401  in   in   401  in   in   in   in   403  403  403  403
GET /api/users/api_keys/                                      401  in   in   401  in   in   in   in   403  403  403  403
POST /api/users/api_keys/                                     401  in   in   401  in   in   in   in   403  403  403  403
DELETE /api/users/api_keys/:id/                               401  in   404  401  404  404  404  404  403  403  403  403
POST /api/bulk/                                               401  403  403  401  in   in   in   in   403  403  403  403
POST /api/bulk/plan/                                          401  403  403  401  in   in   in   in   403  403  403  403
GET /api/bulk/                                                401  403  403  401  in   in   in   in   403  403  403  403
GET /api/bulk/:id/                                            401  403  403  401  in   in   in   in   403  403  403  403
GET /api/bulk/:id/rows/                                       401  403  403  401  in   in   in   in   403  403  403  403
POST /api/bulk/:id/cancel/                                    401  403  403  401  in   in   in   in   403  403  403  403
GET /api/events                                               401  in   in   401  in   in   in   in   403  403  403  403
GET /api/products/products/                                   in   in   in   in   in   in   in   in   in   in   in   in
GET /api/products/products/get_recommend_product/             in   in   in   in   in   in   in   in   in   in   in   in
GET /api/products/acl_list/                                   in   in   in   in   in   in   in   in   in   in   in   in
GET /api/products/products/:id/occupancy/                     in   in   in   in   in   in   in   in   in   in   in   in
POST /api/products/products/stock/                            in   in   in   in   in   in   in   in   in   in   in   in
POST /api/products/products/variant_info/                     in   in   in   in   in   in   in   in   in   in   in   in
GET /api/products/products/get_product_from_shopify/          401  403  403  401  in   in   in   in   403  403  403  403
GET /api/products/products/:id/platform/                      401  403  403  401  in   in   in   in   403  403  403  403
GET /api/products/group_stock/                                401  403  403  401  in   in   in   in   403  403  403  403
POST /api/products/products/                                  401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/products/products/:id/                               401  403  403  401  in   in   403  403  403  403  403  403
POST /api/products/products/reread/                           401  403  403  401  in   in   403  403  403  403  403  403
GET /api/products/price_drift/                                401  403  403  401  in   in   in   in   403  403  403  403
POST /api/products/price_drift/:id/take/                      401  403  403  401  in   in   403  403  403  403  403  403
POST /api/products/price_drift/:id/write/                     401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/products/products/:id/                            401  403  403  401  in   in   403  403  403  403  403  403
GET /api/products/product_collections/                        in   in   in   in   in   in   in   in   in   in   in   in
PUT /api/products/product_collections/:id/                    401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/products/product_collections/:id/                 401  403  403  401  in   in   403  403  403  403  403  403
GET /api/products/product_collections/sync_collection/        401  403  403  401  in   in   403  403  403  403  403  403
GET /api/products/product_tags/                               in   in   in   in   in   in   in   in   in   in   in   in
GET /api/products/product_tags/sync_tags/                     401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/products/product_tags/:id/                           401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/products/product_tags/:id/                        401  403  403  401  in   in   403  403  403  403  403  403
POST /api/orders/checkout                                     401  in   in   401  in   in   in   in   403  403  403  403
GET /api/orders/limits                                        in   in   in   in   in   in   in   in   in   in   in   in
GET /api/orders/checkout                                      401  in   404  401  404  404  404  404  403  403  403  403
POST /api/orders/pay_webhook                                  401  401  401  401  401  401  401  401  401  401  401  401
POST /api/orders/product_webhook                              401  401  401  401  401  401  401  401  401  401  401  401
GET /api/orders/statistics                                    401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/of_product/:id/                               401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/search                                        401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/export                                        401  403  403  401  in   in   in   in   403  403  403  403
POST /api/orders/export                                       401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/order_list/                                   401  in   in   401  in   in   in   in   in   403  in   403
POST /api/orders/order_list/:id/cancel/                       401  in   404  401  in   in   in   403  403  403  403  403
DELETE /api/orders/order_list/:id/                            401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/orders/order_list/:id/label/                         401  in   404  401  404  404  404  404  403  403  403  403
GET /api/orders/order_list/:id/get_proxy_detail/              401  in   404  401  in   in   in   403  in   403  404  403
POST /api/orders/order_list/:id/reset_proxy_password/         401  in   404  401  in   in   in   403  403  403  403  403
GET /api/orders/order_list/:id/check_proxy/                   401  in   404  401  in   in   in   403  in   403  404  403
POST /api/orders/order_list/:id/reset_proxy/                  401  in   404  401  in   in   in   403  403  403  403  403
POST /api/orders/order_list/:id/devery_order/                 401  403  403  401  in   in   in   403  403  403  403  403
POST /api/orders/order_list/:id/update_proxy_expired_at/      401  403  403  401  in   in   in   403  403  403  403  403
POST /api/orders/order_list/:id/credit/                       401  403  403  401  in   in   in   403  403  403  403  403
POST /api/orders/order_list/:id/move/                         401  403  403  401  in   in   in   403  403  403  403  403
POST /api/orders/order_list/:id/reopen/                       401  403  403  401  in   in   in   403  403  403  403  403
POST /api/orders/order_list/:id/order-renew-checkout/         401  in   404  401  in   in   in   403  403  in   403  404
POST /api/orders/renew/                                       401  in   in   401  in   in   in   403  403  in   403  in
POST /api/orders/order_list/one_key_reset/                    401  403  403  401  in   in   in   403  403  403  403  403
GET /api/orders/order_list/:id/export_proxies/                401  in   404  401  in   in   in   403  in   403  404  403
GET /api/orders/order_list/:id/copy_proxies/                  401  in   404  401  in   in   in   403  in   403  404  403
GET /api/orders/order_list/:id/                               401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/order_list/:id/traffic/                       401  in   404  401  in   in   in   in   in   403  404  403
GET /api/orders/order_list/:id/credits/                       401  in   404  401  in   in   in   in   in   403  404  403
GET /api/users/u/:id/traffic/                                 401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/order_list/:id/proxies/                       401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/order_list/:id/timeline/                      401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/order_list/:id/client_access/                 401  in   404  401  in   in   in   in   403  403  403  403
PUT /api/orders/order_list/:id/client_access/                 401  in   in   401  in   in   in   403  403  403  403  403
GET /api/orders/order_list/:id/lost_time/                     401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/order_list/:id/payments/                      401  403  403  401  in   in   in   in   403  403  403  403
GET /api/orders/order_list/:id/receipts/                      401  in   404  401  404  404  404  404  in   403  404  403
GET /api/orders/order_list/:id/refund/                        401  403  403  401  in   in   403  403  403  403  403  403
POST /api/orders/order_list/:id/refund/                       401  403  403  401  in   in   403  403  403  403  403  403
GET /api/payments/inbox/                                      401  403  403  401  in   in   in   in   403  403  403  403
GET /api/payments/inbox/:id/                                  401  403  403  401  in   in   in   in   403  403  403  403
GET /api/payments/inbox/:id/plan/                             401  403  403  401  in   in   403  403  403  403  403  403
POST /api/payments/inbox/:id/apply/                           401  403  403  401  in   in   403  403  403  403  403  403
POST /api/payments/inbox/:id/refunded/                        401  403  403  401  in   in   403  403  403  403  403  403
GET /api/payments/inbox/:id/refund/                           401  403  403  401  in   in   403  403  403  403  403  403
POST /api/payments/inbox/:id/refund/                          401  403  403  401  in   in   403  403  403  403  403  403
POST /api/payments/inbox/:id/ignore/                          401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/acls/                                        401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/acls/conflicts/                              401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/acls/platform_variant/                       401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/acls/check/                                 401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/acls/                                       401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/servers/acls/:id/                                    401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/servers/acls/:id/                                 401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/acl-groups/                                  401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/acl-groups/                                 401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/servers/acl-groups/:id/                              401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/servers/acl-groups/:id/                           401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/acls/:id/effect/                             401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/addresses/                                   401  403  403  401  in   in   in   403  403  403  403  403
GET /api/servers/addresses/leases/                            401  403  403  401  in   in   in   403  403  403  403  403
GET /api/servers/cidrs/:id/blocks/                            401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/cidrs/:id/effect/                           401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/cidrs/                                       401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/cidrs/unused/                                401  403  403  401  in   in   in   in   403  403  403  403
PUT /api/servers/cidrs/:id/                                   401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/cidrs/clean_unused/                         401  403  403  401  in   in   403  403  403  403  403  403
GET /api/users/u/mail_settings/                               401  in   in   401  in   in   in   in   403  403  403  403
PUT /api/users/u/mail_settings/                               401  in   in   401  in   in   in   in   403  403  403  403
PUT /api/users/u/language/                                    401  in   in   401  in   in   in   in   403  403  403  403
GET /api/mail/unsubscribe/                                    in   in   in   in   in   in   in   in   in   in   in   in
POST /api/mail/unsubscribe/                                   in   in   in   in   in   in   in   in   in   in   in   in
GET /api/settings/mails/                                      401  403  403  401  in   in   in   in   403  403  403  403
GET /api/settings/mails/:id/                                  401  403  403  401  in   in   in   in   403  403  403  403
POST /api/settings/mails/:id/send_again/                      401  403  403  401  in   in   in   403  403  403  403  403
GET /api/settings/mail_blocks/                                401  403  403  401  in   in   in   in   403  403  403  403
POST /api/settings/mail_blocks/:id/lift/                      401  403  403  401  in   in   in   403  403  403  403  403
GET /api/settings/mail_domain/                                401  403  403  401  in   in   403  403  403  403  403  403
POST /api/mail/sendgrid_events                                401  401  401  401  401  401  401  401  401  401  401  401
POST /api/mail/mailgun_events                                 401  401  401  401  401  401  401  401  401  401  401  401
GET /api/settings/mail_templates/                             401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/server-groups/                               401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/server-groups/                              401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/servers/server-groups/:id/                           401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/server-groups/:id/plan/                     401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/servers/server-groups/:id/                        401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/server-names/                                401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/servers/                                     401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/servers/                                    401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/traffic/                         401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/servers/:id/                                 401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/servers/:id/plan_edit/                      401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/plan/                            401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/provision/                      401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/provision/cancel/               401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/accept_host_key/                401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/servers/servers/:id/                                 401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/servers/servers/:id/                              401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/impact/                          401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/servers/:id/pause/                          401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/resume/                         401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/drain/                          401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/move/                           401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/give_up/                        401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/take_back/                      401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/outages/                         401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/servers/:id/outages/                        401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/outages/                                     401  403  403  401  in   in   in   in   403  403  403  403
DELETE /api/servers/outages/:id/                              401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/outages/:id/                                 401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/outages/:id/orders/                          401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/outages/:id/credit/                          401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/outages/:id/credit/                         401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/create_user_by_prefix/          401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/delete_user/                    401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/delete_all_user/                401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/reset_all_proxy/                401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/flush_access_log/               401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/list_acl/                       401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/get_server_info/                 401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/agent_version/                               401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/servers/:id/agent_settings/                  401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/servers/:id/agent_settings/plan/            401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/servers/servers/:id/agent_settings/                  401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/proxy_tls/                       401  403  403  401  in   in   in   in   403  403  403  403
PUT /api/servers/servers/:id/proxy_tls/                       401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/proxy_tls/check/                401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/check_ipv6/                     401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/upgrades/                                    401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/upgrades/:id/servers/                        401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/upgrades/plan/                              401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/upgrades/                                   401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/upgrades/:id/continue/                      401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/upgrades/:id/end/                           401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/request_api/                    401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/repair_plan/                     401  403  403  401  in   in   in   in   403  403  403  403
POST /api/servers/servers/:id/approve_plan/                   401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/take_over/                      401  403  403  401  in   in   403  403  403  403  403  403
POST /api/servers/servers/:id/apply_removals/                 401  403  403  401  in   in   403  403  403  403  403  403
GET /api/rewards/coupon_code/                                 401  in   in   401  in   in   in   403  403  403  403  403
POST /api/rewards/coupon_code/                                401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/rewards/coupon_code/:id/                             401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/rewards/coupon_code/:id/                          401  403  403  401  in   in   403  403  403  403  403  403
GET /api/rewards/gift_card/                                   401  403  403  401  in   in   in   403  403  403  403  403
POST /api/rewards/gift_card/                                  401  403  403  401  in   in   403  403  403  403  403  403
POST /api/rewards/gift_cards/                                 401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/rewards/gift_card/:id/                               401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/rewards/gift_card/:id/                            401  403  403  401  in   in   403  403  403  403  403  403
GET /api/rewards/gift_card/base-info/                         401  in   in   401  in   in   in   in   403  403  403  403
POST /api/rewards/gift_card/exchange/                         401  in   in   401  in   in   in   in   403  403  403  403
GET /api/rewards/level_code/                                  401  in   in   401  in   in   in   in   403  403  403  403
GET /api/rewards/level_discount/                              401  in   in   401  in   in   in   in   403  403  403  403
POST /api/rewards/level_code/                                 401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/rewards/level_code/:id/                              401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/rewards/level_code/:id/                           401  403  403  401  in   in   403  403  403  403  403  403
GET /api/rewards/point_record/                                401  in   in   401  in   in   in   in   403  403  403  403
GET /api/tickets/fqa/                                         in   in   in   in   in   in   in   in   in   in   in   in
POST /api/tickets/fqa/                                        401  403  403  401  in   in   in   403  403  403  403  403
PUT /api/tickets/fqa/:id/                                     401  403  403  401  in   in   in   403  403  403  403  403
DELETE /api/tickets/fqa/:id/                                  401  403  403  401  in   in   in   403  403  403  403  403
POST /api/tickets/fqa/:id/restore/                            401  403  403  401  in   in   in   403  403  403  403  403
POST /api/tickets/ticket/                                     in   in   in   in   in   in   in   in   in   in   in   in
GET /api/tickets/ticket/                                      401  403  403  401  in   in   in   in   403  403  403  403
GET /api/tickets/ticket/:id/                                  401  403  403  401  in   in   in   in   403  403  403  403
POST /api/tickets/ticket/:id/answer/                          401  403  403  401  in   in   in   403  403  403  403  403
POST /api/tickets/ticket/:id/close/                           401  403  403  401  in   in   in   403  403  403  403  403
POST /api/tickets/ticket/:id/reopen/                          401  403  403  401  in   in   in   403  403  403  403  403
DELETE /api/tickets/ticket/:id/                               401  403  403  401  in   in   in   403  403  403  403  403
GET /api/settings/config                                      401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/config                                     401  403  403  401  in   403  403  403  403  403  403  403
GET /api/settings/health                                      401  403  403  401  in   in   in   in   403  403  403  403
POST /api/settings/health/check                               401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/webhook_secrets                             401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/webhook_secrets/end                        401  403  403  401  in   403  403  403  403  403  403  403
POST /api/settings/webhooks/take_over                         401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/notices/                                    401  403  403  401  in   in   in   in   403  403  403  403
GET /api/settings/notices/:id/                                401  403  403  401  in   in   in   in   403  403  403  403
POST /api/settings/notices/:id/acknowledge/                   401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/notices/:id/mute/                          401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/notices/rules/                              401  403  403  401  in   in   in   in   403  403  403  403
PUT /api/settings/notices/rules/                              401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/notices/channels/                           401  403  403  401  in   in   in   in   403  403  403  403
POST /api/settings/notices/channels/                          401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/settings/notices/channels/:id/                       401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/settings/notices/channels/:id/                    401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/notices/channels/:id/test/                 401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/notices/sends/:id/                          401  403  403  401  in   in   in   in   403  403  403  403
GET /api/settings/tasks/                                      401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/tasks/run/                                 401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/tasks/dead_letters/                         401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/tasks/dead_letters/retry/                  401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/tasks/dead_letters/discard/                401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/log_lines                                   401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/test                                       401  403  403  401  in   403  403  403  403  403  403  403
GET /api/settings/logs                                        401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/retention                                   401  403  403  401  in   in   in   in   403  403  403  403
GET /api/settings/social                                      in   in   in   in   in   in   in   in   in   in   in   in
GET /api/settings/audit_log/                                  401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/audit_log/:id/                              401  403  403  401  in   in   403  403  403  403  403  403
GET /geofeed.csv                                              in   in   in   in   in   in   in   in   in   in   in   in
GET /api/docs                                                 401  403  403  401  in   in   in   in   403  403  403  403
GET /api/docs/openapi.json                                    401  403  403  401  in   in   in   in   403  403  403  403
GET /api/docs/reference/                                      in   in   in   in   in   in   in   in   in   in   in   in
GET /api/docs/customer.json                                   in   in   in   in   in   in   in   in   in   in   in   in
GET /api/home/setup/                                          401  403  403  401  in   in   in   in   403  403  403  403
GET /api/home/attention/                                      401  403  403  401  in   in   in   in   403  403  403  403
GET /api/home/sales/                                          401  403  403  401  in   in   in   in   403  403  403  403
GET /api/home/sales.csv                                       401  403  403  401  in   in   in   in   403  403  403  403
GET /api/servers/servers/:id/live/                            401  403  403  401  in   in   in   403  403  403  403  403
POST /api/servers/servers/:id/end_connections/                401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/servers/:id/follow_log/                      401  403  403  401  in   in   in   403  403  403  403  403
GET /api/servers/alarms/                                      401  403  403  401  in   in   in   403  403  403  403  403
POST /api/servers/alarms/:id/acknowledge/                     401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/proofs/                                      401  403  403  401  in   in   in   403  403  403  403  403
POST /api/servers/proofs/:id/acknowledge/                     401  403  403  401  in   in   403  403  403  403  403  403
GET /api/servers/seen_from/                                   in   in   in   in   in   in   in   in   in   in   in   in
GET /api/home/stock/                                          401  403  403  401  in   in   in   in   403  403  403  403
GET /api/home/endings/                                        401  403  403  401  in   in   in   in   403  403  403  403
GET /api/home/deliveries/                                     401  403  403  401  in   in   in   in   403  403  403  403
GET /api/home/search/                                         401  403  403  401  in   in   in   in   403  403  403  403
GET /api/products/sync/runs/                                  401  403  403  401  in   in   in   in   403  403  403  403
POST /api/products/sync/runs/                                 401  403  403  401  in   in   403  403  403  403  403  403
GET /api/products/sync/runs/:id/plan/                         401  403  403  401  in   in   in   in   403  403  403  403
POST /api/products/sync/runs/:id/apply/                       401  403  403  401  in   in   403  403  403  403  403  403
POST /api/products/sync/runs/:id/cancel/                      401  403  403  401  in   in   403  403  403  403  403  403
GET /api/products/sync/last/                                  401  403  403  401  in   in   in   in   403  403  403  403
POST /api/products/sync/:id/undo/                             401  403  403  401  in   in   403  403  403  403  403  403
POST /api/rewards/codes/on_platform/                          401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/chat_bot                                    401  403  403  401  in   in   403  403  403  403  403  403
GET /api/webhooks/endpoints/                                  401  in   in   401  in   in   in   in   in   403  in   403
POST /api/webhooks/endpoints/                                 401  in   in   401  in   in   in   in   403  403  403  403
PUT /api/webhooks/endpoints/:id/                              401  in   in   401  in   in   in   in   403  403  403  403
DELETE /api/webhooks/endpoints/:id/                           401  in   404  401  404  404  404  404  403  403  403  403
POST /api/webhooks/endpoints/:id/rotate_secret/               401  in   404  401  404  404  404  404  403  403  403  403
POST /api/webhooks/endpoints/:id/test/                        401  in   404  401  404  404  404  404  403  403  403  403
GET /api/webhooks/deliveries/                                 401  in   in   401  in   in   in   in   in   403  in   403
GET /api/webhooks/deliveries/:id/                             401  in   404  401  404  404  404  404  in   403  404  403
POST /api/webhooks/deliveries/:id/resend/                     401  in   404  401  404  404  404  404  403  403  403  403
GET /api/settings/outgoing_webhooks/endpoints/                401  403  403  401  in   in   in   403  403  403  403  403
POST /api/settings/outgoing_webhooks/endpoints/               401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/settings/outgoing_webhooks/endpoints/:id/            401  403  403  401  in   in   403  403  403  403  403  403
DELETE /api/settings/outgoing_webhooks/endpoints/:id/         401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/outgoing_webhooks/endpoints/:id/rotate_secret/ 401  403  403  401  in   in   403  403  403  403  403  403
POST /api/settings/outgoing_webhooks/endpoints/:id/test/      401  403  403  401  in   in   403  403  403  403  403  403
GET /api/settings/outgoing_webhooks/deliveries/               401  403  403  401  in   in   in   403  403  403  403  403
GET /api/settings/outgoing_webhooks/deliveries/:id/           401  403  403  401  in   in   in   403  403  403  403  403
POST /api/settings/outgoing_webhooks/deliveries/:id/resend/   401  403  403  401  in   in   403  403  403  403  403  403
GET /api/status/                                              in   in   in   in   in   in   in   in   in   in   in   in
GET /api/status/figures/                                      in   in   in   in   in   in   in   in   in   in   in   in
GET /api/status/incident/:id/                                 in   in   in   in   in   in   in   in   in   in   in   in
POST /api/status/subscribe/                                   in   in   in   in   in   in   in   in   in   in   in   in
POST /api/status/confirm/                                     in   in   in   in   in   in   in   in   in   in   in   in
GET /api/status/unsubscribe/                                  in   in   in   in   in   in   in   in   in   in   in   in
POST /api/status/unsubscribe/                                 in   in   in   in   in   in   in   in   in   in   in   in
GET /api/status/incidents/                                    401  403  403  401  in   in   in   in   403  403  403  403
GET /api/status/incidents/:id/                                401  403  403  401  in   in   in   in   403  403  403  403
GET /api/status/subscribers/                                  401  403  403  401  in   in   in   in   403  403  403  403
POST /api/status/incidents/                                   401  403  403  401  in   in   in   403  403  403  403  403
PUT /api/status/incidents/:id/                                401  403  403  401  in   in   in   403  403  403  403  403
DELETE /api/status/incidents/:id/                             401  403  403  401  in   in   in   403  403  403  403  403
POST /api/status/incidents/:id/updates/                       401  403  403  401  in   in   in   403  403  403  403  403
PUT /api/status/updates/:id/                                  401  403  403  401  in   in   in   403  403  403  403  403
POST /api/servers/outages/:id/incident/                       401  403  403  401  in   in   in   403  403  403  403  403
POST /api/servers/outages/:id/name_incident/                  401  403  403  401  in   in   in   403  403  403  403  403
GET /api/servers/geofeed/                                     401  403  403  401  in   in   403  403  403  403  403  403
PUT /api/servers/places/                                      401  403  403  401  in   in   403  403  403  403  403  403
`

/** Calls about one thing that belongs to a customer. */
export const OWNED = {
  order: [
    'GET /api/orders/order_list/:id/get_proxy_detail/',
    'GET /api/orders/order_list/:id/traffic/',
    'GET /api/orders/order_list/:id/credits/',
    'POST /api/orders/order_list/:id/cancel/',
    'POST /api/orders/order_list/:id/reset_proxy_password/',
    'GET /api/orders/order_list/:id/check_proxy/',
    'POST /api/orders/order_list/:id/order-renew-checkout/',
    'GET /api/orders/order_list/:id/export_proxies/',
    'GET /api/orders/order_list/:id/copy_proxies/',
    'GET /api/orders/order_list/:id/client_access/',
    'PUT /api/orders/order_list/:id/client_access/',
    'POST /api/orders/order_list/:id/reset_proxy/',
    'PUT /api/orders/order_list/:id/label/',
    'GET /api/orders/order_list/:id/receipts/'
  ],
  orderKey: ['GET /api/orders/checkout'],
  apiKey: ['DELETE /api/users/api_keys/:id/'],
  session: ['DELETE /api/users/sessions/:id/'],
  webhook: [
    'PUT /api/webhooks/endpoints/:id/',
    'DELETE /api/webhooks/endpoints/:id/',
    'POST /api/webhooks/endpoints/:id/rotate_secret/',
    'POST /api/webhooks/endpoints/:id/test/'
  ],
  webhookDelivery: ['GET /api/webhooks/deliveries/:id/', 'POST /api/webhooks/deliveries/:id/resend/']
}
